import type { PaymentStatus } from '@perennial/wire';
import { periodDueAt } from './calendar.js';
import { createOrderHead, type Order, type OrderHead, type Payment, unstartedStatus } from './order.js';

/**
 * A compact form of an answer about one order, without the text of each period and without the link's signature. If the
 * request has an idempotency key, the description is stored with the key. Each answer, first or replayed, is rendered
 * from it.
 */
export interface OrderDescription {
  readonly head: OrderHead;
  /** The redemption link. Null if the answer has none. */
  readonly link: LinkTerms | null;
  readonly periods: readonly PeriodRun[];
}

/** The parts of a redemption link besides its order number, app id and signature. */
export interface LinkTerms {
  readonly channelUserId: string;
  /** The expiry of the link, in Unix seconds. */
  readonly exp: number;
  /** The address of the redemption page, as the node that answered first knew it. Undefined in older descriptions. */
  readonly host?: string;
}

/** Consecutive periods with the same values. `expectAfter` and `paidAfter` are seconds after the period's due time. */
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

/**
 * Returns one run with all periods that have not begun, because they have the same values. Empty if the answer shows no
 * such period.
 */
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
