import type { Static } from '@perennial/wire';
import { periodDueAt } from '../../../subscriptions/domain/orders/calendar.js';
import type { Order } from '../../../subscriptions/domain/orders/order.js';
import { isWaitingForRetry } from '../../../subscriptions/domain/payments/payment-states.js';
import type { nextStep } from '../../schemas/orders.js';
import type { Surroundings } from './timeline-sql.js';

/** The next automatic step of an order, and its time. */
export type NextStep = Omit<Static<typeof nextStep>, 'at'> & { readonly at: number };

/** Returns the order's next automatic step, or null if none follows. Does not read the database. */
export function findNextStep(order: Order, around: Surroundings, now: number): NextStep | null {
  const retries = (tryNo: number) =>
    tryNo === 0 ? { tryNo: null, tries: null } : { tryNo, tries: Math.max(around.retryDelays.length, tryNo) };
  const { openCycleNo, openTryNo, askAt } = around;
  if (openCycleNo !== null && openTryNo !== null) {
    return {
      at: askAt ?? now,
      what: 'wait-for-institution',
      cycleNo: openCycleNo,
      ...retries(openTryNo - 1),
      amountCent: order.amountCent,
    };
  }
  if (order.status !== 'ACTIVE' || order.nextDueAt === null) return null;
  const at = order.nextDueAt;
  if (isWaitingForRetry(order.latestPaymentStatus)) {
    const isTooLate = Math.max(at, now) >= periodDueAt(order.createdAt, order, order.cycleNo + 1);
    return {
      at,
      what: isTooLate ? 'expire' : 'retry',
      cycleNo: order.cycleNo,
      ...retries(around.tries),
      amountCent: isTooLate ? null : order.amountCent,
    };
  }
  const none = { tryNo: null, tries: null };
  if (order.cycleNo === order.totalCycles) return { at, what: 'complete', cycleNo: null, ...none, amountCent: null };
  const what = order.settlementMode === 'SVC_DEDUCT' ? 'debit' : 'bill';
  return { at, what, cycleNo: order.cycleNo + 1, ...none, amountCent: order.amountCent };
}
