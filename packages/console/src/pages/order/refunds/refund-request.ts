import type { TimelineEntry } from '../../../api/order-types.ts';
import { isProblem } from '../../../api/problem.ts';

/**
 * Stores a refund request in the browser until it is answered. If the operator closes the dialog, reloads the page or
 * opens another tab and requests the same amount again, the key is the same. The money is therefore refunded once.
 */
export interface Unanswered {
  readonly cycleNo: number;
  readonly amountCent: number;
  readonly key: string;
}

/** The operator and the order of a request. */
interface Owner {
  readonly person: string;
  readonly orderNo: string;
}

const placesOf = ({ person, orderNo }: Owner) => `perennial-console-refund/${encodeURIComponent(person)}/${orderNo}/`;
/** One storage key per request, so that concurrent tabs do not overwrite each other. */
const placeOf = (owner: Owner, { cycleNo, amountCent, key }: Unanswered) =>
  `${placesOf(owner)}${cycleNo}/${amountCent}/${key}`;

export function findUnanswered(owner: Owner): Unanswered[] {
  const begin = placesOf(owner);
  try {
    return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '')
      .filter((place) => place.startsWith(begin))
      .map((place) => {
        const [cycleNo, amountCent, key = ''] = place.slice(begin.length).split('/');
        return { cycleNo: Number(cycleNo), amountCent: Number(amountCent), key };
      });
  } catch {
    return [];
  }
}

export function keepUnanswered(owner: Owner, request: Unanswered): void {
  try {
    localStorage.setItem(placeOf(owner, request), '');
  } catch {
    // Without storage, the key lives as long as the dialog.
  }
}

export function forgetUnanswered(owner: Owner, request: Unanswered): void {
  try {
    localStorage.removeItem(placeOf(owner, request));
  } catch {
    // Without storage there is nothing to remove.
  }
}

/** A request that a dialog knows: sent by it, found on opening, or announced by another tab. */
export interface KnownRequest extends Unanswered {
  readonly origin: 'here' | 'before' | 'elsewhere';
}

/**
 * Returns the hint for a request. `isKept` is true if no tab has its answer. Returns undefined if another tab was
 * answered and the order does not have the refund, because it was refused there.
 */
export function describeRequest(
  { origin }: KnownRequest,
  { isKept, hasArrived: isThere }: { readonly isKept: boolean; readonly hasArrived: boolean },
): 'arrived' | 'unanswered' | 'elsewhere' | undefined {
  if (origin === 'here' || (origin === 'before' && isKept)) return isThere ? 'arrived' : 'unanswered';
  return isThere || isKept ? 'elsewhere' : undefined;
}

/** Merges two lists without duplicates. */
export const joinUnanswered = <Request extends Unanswered>(
  some: readonly Request[],
  more: readonly Request[],
): readonly Request[] => [...some, ...more.filter(({ key }) => some.every((one) => one.key !== key))];

/** Returns the key of the unanswered request for the same period and amount, or the fresh key. */
export const keyFor = (unanswered: readonly Unanswered[], asked: Omit<Unanswered, 'key'>, fresh: string): string =>
  unanswered.find(({ cycleNo, amountCent }) => cycleNo === asked.cycleNo && amountCent === asked.amountCent)?.key ??
  fresh;

/** Returns whether an error settles a request. A refusal does; a fault, an unreadable answer or no answer does not. */
export const isAnswer = (error: unknown): boolean =>
  isProblem(error) && error.status >= 400 && error.status < 500 && error.status !== 408;

/** Returns whether the order has the refund of a request, so that only the answer was lost. */
export const hasArrived = (timeline: readonly TimelineEntry[], key: string): boolean =>
  timeline.some(
    ({ kind, data }) =>
      kind === 'operator' && (data as { readonly detail?: { readonly key?: unknown } } | null)?.detail?.key === key,
  );
