import type { PaymentStatus } from '@perennial/wire';
import { periodDueAt } from './calendar.js';
import { createOrderHead, type Order, type OrderHead, type Payment, unstartedStatus } from './order.js';

/**
 * What an endpoint answers about an order, in short: without the text of each period and the signature of the link, which can
 * be made from it. It is stored with the idempotency key, and the answer's text is made from it, the first time and at replays.
 */
export interface OrderDescription {
  readonly head: OrderHead;
  /** Null when the answer has no redemption link. */
  readonly link: LinkTerms | null;
  readonly periods: readonly PeriodRun[];
}

/** The parts of a redemption link that its order and its channel do not give. */
export interface LinkTerms {
  readonly channelUserId: string;
  /** Until when the link is valid, in Unix seconds. */
  readonly exp: number;
  /** The address of the redemption page at the node that gave the first answer. Unset in older descriptions. */
  readonly host?: string;
}

/**
 * Consecutive periods with the same values. `expectAfter` and `paidAfter` are seconds after each period's time by the
 * calendar.
 */
export type PeriodRun = readonly [
  from: number,
  to: number,
  status: PaymentStatus,
  amountCent: number,
  refundAmountCent: number,
  expectAfter: number,
  paidAfter: number | null,
];

export function createOrderDescription(
  order: Order,
  started: readonly Payment[],
  link: LinkTerms | null,
): OrderDescription {
  return { head: createOrderHead(order), link, periods: [...startedRuns(order, started), ...unstartedRuns(order)] };
}

/** The periods that were not started. They all have the same values, so they are one run. */
export function unstartedRuns(order: Order): PeriodRun[] {
  const status = unstartedStatus(order);
  if (status === undefined || order.cycleNo >= order.totalCycles) return [];
  return [[order.cycleNo + 1, order.totalCycles, status, order.amountCent, 0, 0, null]];
}

const toSeconds = (at: number) => Math.floor(at / 1000);

function startedRuns(order: Order, payments: readonly Payment[]): PeriodRun[] {
  const runs: PeriodRun[] = [];
  for (const { cycleNo, status, amountCent, refundAmountCent, expectAt, paidAt } of payments) {
    const due = toSeconds(periodDueAt(order.createdAt, order, cycleNo));
    const expectAfter = toSeconds(expectAt) - due;
    const paidAfter = paidAt === null ? null : toSeconds(paidAt) - due;
    const last = runs.at(-1);
    const isLike =
      last !== undefined &&
      last[1] === cycleNo - 1 &&
      last[2] === status &&
      last[3] === amountCent &&
      last[4] === refundAmountCent &&
      last[5] === expectAfter &&
      last[6] === paidAfter;
    const from = isLike ? last[0] : cycleNo;
    if (isLike) runs.pop();
    runs.push([from, cycleNo, status, amountCent, refundAmountCent, expectAfter, paidAfter]);
  }
  return runs;
}
