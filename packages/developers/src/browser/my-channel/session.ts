import { type Channel, createPageRequestId } from '../channel.js';
import { find } from '../dom.js';

/** The channel that is signed in, and what all tabs of its console share. The credentials are in memory only, unless kept. */

let channel: Channel | undefined;

export function useChannel(opened: Channel): void {
  channel = opened;
}

/** Returns the client. Only signed-in readers see the forms that use it. */
export function client(): Channel {
  if (!channel) throw new Error('Sign in first.');
  return channel;
}

/** Sends a request of this page, under a request id by which the list of requests recognizes it. */
export const send: Channel['send'] = (name, body) => client().send(name, body, { requestId: createPageRequestId() });

const loaded = new Set<string>();

/** Returns true the first time that a tab is shown, and the first time after it was outdated. */
export function isFirstShown(tab: string): boolean {
  if (loaded.has(tab)) return false;
  loaded.add(tab);
  return true;
}

export const outdateTab = (tab: string): boolean => loaded.delete(tab);

export const byId = <Found extends HTMLElement = HTMLElement>(id: string): Found => {
  const found = find<Found>(`#${id}`);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
};

export const valueIn = (id: string): string => byId<HTMLInputElement | HTMLSelectElement>(id).value.trim();
