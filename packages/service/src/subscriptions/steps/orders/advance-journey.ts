import { randomUUID } from 'node:crypto';
import { type RehearsedOutcome, Rejection } from '@perennial/wire';
import type { Order } from '../../domain/orders/order.js';
import { requireNotEnded } from '../../domain/orders/order-states.js';
import { isWaitingForRetry } from '../../domain/payments/payment-states.js';
import type { OrderStanding } from '../../store/orders/order-standing-sql.js';

/** What time travel is asked for: a number of periods, or everything up to a time. */
export interface AdvanceWish {
  readonly to: { readonly cycles: number } | { readonly time: number };
  /** One outcome for each period, in their order. Periods without one succeed. */
  readonly outcomes: readonly RehearsedOutcome[];
}

/**
 * How far an order is to be advanced. Fixed before the first step, so that a request that continues after a crash goes
 * exactly as far: to a try of a period, or to a time (Unix milliseconds).
 */
export interface Journey {
  /** Has the order while it lasts. A resend that continues the journey has the same. */
  readonly id: string;
  readonly orderNo: number;
  /** The period that the first outcome is for. */
  readonly from: number;
  readonly to: { readonly cycleNo: number; readonly tryNo: number } | { readonly time: number };
}

/**
 * A period that failed for now is tried again, otherwise the next one begins. After the last period only completion is left.
 */
export function nextCycleNo(order: Order): number {
  return isWaitingForRetry(order.latestPaymentStatus) ? order.cycleNo : order.cycleNo + 1;
}

const triesBefore = (order: Order, { tries }: OrderStanding) =>
  isWaitingForRetry(order.latestPaymentStatus) ? tries : 0;

/** The caller holds the order's lock. Rejects what is not possible for the order. */
export function planJourney(order: Order, standing: OrderStanding, { to, outcomes }: AdvanceWish): Journey {
  requireNotEnded(order.status);
  if (order.status === 'INITIALIZING') throw new Rejection('SUBSCRIPTION_FIRST_PAYMENT_PENDING');
  if (order.settlementMode === 'CHANNEL_COLLECT') {
    if (outcomes.some((outcome) => outcome !== 'SUCCESS')) {
      throw new Rejection(
        'PARAM_INVALID',
        'outcomes can only be SUCCESS: what the channel collects is billed in any case',
      );
    }
  } else if (outcomes.length > 0 && !standing.rehearsable) {
    throw new Rejection('PARAM_INVALID', 'outcomes cannot be given: the institution of the payment channel decides');
  }
  const { orderNo } = order;
  const id = randomUUID();
  const from = nextCycleNo(order);
  if ('time' in to) return { id, orderNo, from, to };
  const tryNo = to.cycles === 1 ? triesBefore(order, standing) + 1 : 1;
  return { id, orderNo, from, to: { cycleNo: from + to.cycles - 1, tryNo } };
}

/** The time of the next step. Undefined when the journey is over, or the order cannot be advanced further. */
export function nextStepTime({ to }: Journey, order: Order, standing: OrderStanding): number | undefined {
  const { dueAt } = standing;
  if (order.status !== 'ACTIVE' || dueAt === null) return undefined;
  if ('time' in to) return dueAt <= to.time ? dueAt : undefined;
  const cycleNo = nextCycleNo(order);
  const isBefore = cycleNo < to.cycleNo || (cycleNo === to.cycleNo && triesBefore(order, standing) < to.tryNo);
  return isBefore ? dueAt : undefined;
}

/** Up to when it goes, if that is what was asked for. */
export const endTime = ({ to }: Journey): number | undefined => ('time' in to ? to.time : undefined);
