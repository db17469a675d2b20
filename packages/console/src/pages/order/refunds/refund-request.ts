import type { TimelineEntry } from '../../../api/order-types.ts';
import { isProblem } from '../../../api/problem.ts';

/**
 * A refund that was asked for is kept until it is answered, in every tab of the browser: whoever closes the dialog, loads the page
 * again or opens another tab, and asks once more for the same amount asks for the same refund, and the money goes back once.
 */
export interface Unanswered {
  readonly cycleNo: number;
  readonly amountCent: number;
  readonly key: string;
}

/** Whose, and of which order. */
interface Owner {
  readonly person: string;
  readonly orderNo: string;
}

const placesOf = ({ person, orderNo }: Owner) => `perennial-console-refund/${encodeURIComponent(person)}/${orderNo}/`;
/** One place for each request: tabs that keep and forget at the same time do not overwrite each other. */
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
    // A browser that keeps nothing: the key lives as long as the dialog.
  }
}

export function forgetUnanswered(owner: Owner, request: Unanswered): void {
  try {
    localStorage.removeItem(placeOf(owner, request));
  } catch {
    // Nothing was kept.
  }
}

/** A request that a dialog knows of: it has sent it itself, has found it when it was opened, or hears of it from another tab. */
export interface KnownRequest extends Unanswered {
  readonly origin: 'here' | 'before' | 'elsewhere';
}

/**
 * What to say of a request. `isKept`: it is still kept, so no tab has its answer. Undefined when another tab was answered and the order does not
 * know of the request: it was refused there.
 */
export function describeRequest(
  { origin }: KnownRequest,
  { isKept, hasArrived: isThere }: { readonly isKept: boolean; readonly hasArrived: boolean },
): 'arrived' | 'unanswered' | 'elsewhere' | undefined {
  if (origin === 'here' || (origin === 'before' && isKept)) return isThere ? 'arrived' : 'unanswered';
  return isThere || isKept ? 'elsewhere' : undefined;
}

/** Those of both, each once. */
export const joinUnanswered = <Request extends Unanswered>(
  some: readonly Request[],
  more: readonly Request[],
): readonly Request[] => [...some, ...more.filter(({ key }) => some.every((one) => one.key !== key))];

/** The same amount again is the same refund; another amount is another one. */
export const keyFor = (unanswered: readonly Unanswered[], asked: Omit<Unanswered, 'key'>, fresh: string): string =>
  unanswered.find(({ cycleNo, amountCent }) => cycleNo === asked.cycleNo && amountCent === asked.amountCent)?.key ??
  fresh;

/** A refusal is an answer. A fault, an answer that cannot be read, or none at all leaves open what became of a request. */
export const isAnswer = (error: unknown): boolean =>
  isProblem(error) && error.status >= 400 && error.status < 500 && error.status !== 408;

/** Whether the order knows of a request: the answer is all that was lost. */
export const hasArrived = (timeline: readonly TimelineEntry[], key: string): boolean =>
  timeline.some(
    ({ kind, data }) =>
      kind === 'operator' && (data as { readonly detail?: { readonly key?: unknown } } | null)?.detail?.key === key,
  );
