import { now } from '../clock.ts';

/** DOM events that show that a user is present. */
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart', 'focus'] as const;

/** How long the user counts as present after the last event of a kind in SIGNS. */
const ATTENDED_MS = 60_000;

let lastSignAt = now();

/** Starts listening for the events in SIGNS. Called once, when the page starts. */
export function watchForSigns(page: Pick<EventTarget, 'addEventListener'>): void {
  const note = () => {
    lastSignAt = now();
  };
  for (const sign of SIGNS) page.addEventListener(sign, note, { capture: true, passive: true });
}

/**
 * Returns true if the user seems absent: requests are then automatic. Automatic requests do not extend a session, so
 * the session of an abandoned page expires after half an hour.
 */
export const isUnattended = (): boolean => now() - lastSignAt > ATTENDED_MS;
