import type { TimelineEntry } from '../../../api/order-types.ts';
import { isProblem } from '../../../api/problem.ts';

/**
 * A refund request that has no answer yet, stored in the browser. If the operator closes the dialog, reloads the page
 * or opens another tab, and then requests the same amount again, the same idempotency key is sent, so the money is
 * refunded once.
 */
export interface Unanswered {
  readonly cycleNo: number;
  readonly amountCent: number;
  readonly key: string;
  readonly options: RefundOptions;
}

export type RefundOptions = typeof NO_OPTIONS;
export const NO_OPTIONS = { keepBenefits: false, outside: false, unsubscribe: false };

/** The operator who made a request, and its order. */
interface Owner {
  readonly person: string;
  readonly orderNo: string;
}

const placesOf = ({ person, orderNo }: Owner) => `perennial-console-refund/${encodeURIComponent(person)}/${orderNo}/`;
/** One storage key per request, so that concurrent tabs do not overwrite each other. */
const placeOf = (owner: Owner, { cycleNo, amountCent, key }: Unanswered) =>
  `${placesOf(owner)}${cycleNo}/${amountCent}/${key}`;

/**
 * Returns the request that a storage key and its value stand for. Returns nothing if the key is not one of the owner's.
 */
export function readPlace(owner: Owner, place: string, value: string | null): Unanswered[] {
  const begin = placesOf(owner);
  if (!place.startsWith(begin)) return [];
  const [cycleNo, amountCent, key = ''] = place.slice(begin.length).split('/');
  const options = { ...NO_OPTIONS, ...JSON.parse(value || '{}') };
  return [{ cycleNo: Number(cycleNo), amountCent: Number(amountCent), key, options }];
}

export function findUnanswered(owner: Owner): Unanswered[] {
  try {
    return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '').flatMap((place) =>
      readPlace(owner, place, localStorage.getItem(place)),
    );
  } catch {
    return [];
  }
}

export function keepUnanswered(owner: Owner, request: Unanswered): void {
  try {
    localStorage.setItem(placeOf(owner, request), JSON.stringify(request.options));
  } catch {
    // Without storage, the idempotency key is only kept while the dialog is open.
  }
}

export function forgetUnanswered(owner: Owner, request: Unanswered): void {
  try {
    localStorage.removeItem(placeOf(owner, request));
  } catch {
    // Without storage there is nothing to remove.
  }
}

/** A request that a dialog knows: sent by the dialog, stored before it opened, or stored by another tab. */
export interface KnownRequest extends Unanswered {
  readonly origin: 'here' | 'before' | 'elsewhere';
}

/**
 * Returns the hint to show for a request. `isKept` is true if no tab has got the answer to the request. Returns
 * undefined if another tab got the answer and the order does not have the refund: the service refused it.
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

/** Returns the idempotency key of an unanswered request for the same period and amount, otherwise `fresh`. */
export const keyFor = (
  unanswered: readonly Unanswered[],
  asked: Pick<Unanswered, 'cycleNo' | 'amountCent'>,
  fresh: string,
): string =>
  unanswered.find(({ cycleNo, amountCent }) => cycleNo === asked.cycleNo && amountCent === asked.amountCent)?.key ??
  fresh;

/**
 * Returns true if the error is a refusal, which settles the request. Server errors and lost answers do not settle it. A
 * request that was received earlier with other options keeps its key, so that it is not sent as another refund.
 */
export const isAnswer = (error: unknown): boolean =>
  isProblem(error) &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 408 &&
  error.code !== 'refund-key-differs';

/** Returns true if the order already has the refund of the request, so that only the answer was lost. */
export const hasArrived = (timeline: readonly TimelineEntry[], key: string): boolean =>
  timeline.some(
    ({ kind, data }) =>
      kind === 'operator' && (data as { readonly detail?: { readonly key?: unknown } } | null)?.detail?.key === key,
  );
