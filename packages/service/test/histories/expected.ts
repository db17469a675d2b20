import { isDeepStrictEqual } from 'node:util';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import { fallsDue, type Outcome, refundSettled, settled, unsubscribed } from './model.js';
import { type OrderModel, openAttempt, runsOn } from './order.js';
import type { Heard } from './world.js';

/** The possible states of an order: `all` includes every intermediate state, `ends` only the final ones. */
export interface Reachable {
  readonly all: readonly OrderModel[];
  readonly ends: readonly OrderModel[];
}

export interface Circumstances {
  readonly orderNo: number;
  readonly heard: readonly Heard[];
  /** The time at which the jobs last ran, if they ran. Everything due by then may have happened. */
  readonly ranAt: number | undefined;
  /** Whether the agreement had ended before this step. */
  readonly agreementEnded: boolean;
  /** Agreements that the institution ended in this step by declining a debit of another order. */
  readonly gone: readonly Gone[];
}

export interface Gone {
  readonly name: string;
  readonly at: number;
}

export function reachable(start: OrderModel, circumstances: Circumstances): Reachable {
  const all: OrderModel[] = [];
  const ends: OrderModel[] = [];
  const walk = (order: OrderModel) => {
    all.push(order);
    const next = following(order, circumstances);
    if (next.length === 0) ends.push(order);
    for (const one of next) walk(one);
  };
  walk(start);
  return { all, ends };
}

function following(order: OrderModel, circumstances: Circumstances): OrderModel[] {
  const { orderNo, heard, ranAt, agreementEnded } = circumstances;
  const next: OrderModel[] = [];
  const gone = circumstances.gone.filter(({ name }) => name === runsOn(order));
  if (order.status === 'ACTIVE') next.push(...gone.map(({ at }) => unsubscribed(order, at)));
  if (ranAt !== undefined && order.nextDueAt !== null && order.nextDueAt <= ranAt) next.push(fallsDue(order, ranAt));
  const open = openAttempt(order);
  if (open) {
    for (const { outcome, at } of about(heard, formatAttemptNo(orderNo, open.cycleNo, open.tryNo))) {
      const result = isNeverSent(order, outcome, at) ? NEVER_SENT : finalDebit(outcome, order.product.amountCent);
      if (!result) continue;
      const isFirst = order.status === 'INITIALIZING' && result.kind === 'success';
      // If another order's debit was declined at the same time, this agreement can have ended before or after this
      // result.
      const ended = isFirst ? [agreementEnded, ...gone.map(() => true)] : [false];
      for (const one of new Set(ended)) next.push(settled(order, result, at, one));
    }
  }
  for (const refund of order.refunds.filter(({ status }) => status === 'STARTED')) {
    for (const { outcome, at } of about(heard, formatRefundNo({ orderNo, ...refund }))) {
      if (outcome.kind === 'refused') next.push(refundSettled(order, refund, null, at));
      if (outcome.kind === 'success' && 'refundedAt' in outcome && outcome.amountCent === refund.amountCent) {
        next.push(refundSettled(order, refund, outcome.refundedAt, at));
      }
    }
  }
  return next;
}

/** Returns the outcomes that the institution reported for this attempt or refund number, without duplicates. */
function about(heard: readonly Heard[], number: string): Heard[] {
  const said = heard.filter((one) => one.number === number);
  return said.filter((one, index) => said.findIndex((other) => isDeepStrictEqual(other, one)) === index);
}

/**
 * Returns true if the institution does not know the debit of an order that ended long ago, so that the debit can no
 * longer arrive.
 */
function isNeverSent({ unsubscribedAt }: OrderModel, outcome: Heard['outcome'], at: number): boolean {
  return outcome.kind === 'not-found' && unsubscribedAt !== null && at - unsubscribedAt >= 11 * 60_000;
}
const NEVER_SENT: Outcome = { kind: 'declined', decline: 'final' };

/** Returns the outcome if it is final, otherwise undefined. A success with a different amount is not final. */
function finalDebit(outcome: Heard['outcome'], amountCent: number): Outcome | undefined {
  if (outcome.kind === 'declined') return { kind: 'declined', decline: outcome.decline };
  if (outcome.kind !== 'success' || !('paidAt' in outcome) || outcome.amountCent !== amountCent) return undefined;
  return { kind: 'success', paidAt: outcome.paidAt };
}
