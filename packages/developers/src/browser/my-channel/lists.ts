import { element, find } from '../dom.js';
import { byId } from './session.js';

export const LIST_SIZE = 20;

/** For each list, the place after its last row. Null if there are no more rows. */
const cursors = new Map<string, string | null>();

/** Shows the items in the list, instead of its rows or behind them, and the button for more if there are more. */
export function fill(
  list: string,
  items: readonly HTMLElement[],
  isMore: boolean,
  nextCursor: string | null,
  none: string,
): void {
  const shown = items.length === 0 && !isMore ? [element('li', { class: 'quiet' }, none)] : items;
  if (isMore) byId(list).append(...shown);
  else byId(list).replaceChildren(...shown);
  cursors.set(list, nextCursor);
  const more = find<HTMLElement>(`#${list.replace('-list', '-more')}`);
  if (more) more.hidden = nextCursor === null;
}

export const nextCursorOf = (list: string): string | null => cursors.get(list) ?? null;

/** The colour of each status. */
export const TONES: Readonly<Record<string, string>> = {
  ACTIVE: 'positive',
  SUCCESS: 'positive',
  BILLED: 'positive',
  COMPLETED: 'positive',
  DELIVERED: 'positive',
  INITIALIZING: 'waiting',
  PROCESSING: 'waiting',
  FAIL_RETRY: 'waiting',
  PENDING: 'waiting',
  FAIL: 'negative',
  TERMINATED: 'negative',
  GIVE_UP: 'negative',
  NO_CALLBACK: 'negative',
};

export const renderStatus = (text: string): HTMLElement =>
  element('span', { class: `status ${TONES[text] ?? 'plain'}` }, text);
