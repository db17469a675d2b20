import { randomUUID } from 'node:crypto';
import { type RehearsedOutcome, Rejection } from '@perennial/wire';
import type { Order } from '../../domain/orders/order.js';
import { requireNotEnded } from '../../domain/orders/order-states.js';
import { isWaitingForRetry } from '../../domain/payments/payment-states.js';
import type { OrderStanding } from '../../store/orders/order-standing-sql.js';

/** A request for time travel: by a number of periods, or to a given time. */
export interface AdvanceWish {
  readonly to: { readonly cycles: number } | { readonly time: number };
  /**
   * The outcomes of the next periods, one after another. After the last of them, debits at the sandbox's own
   * institution succeed.
   */
  readonly outcomes: readonly RehearsedOutcome[];
}

/**
 * A planned time travel. Its end is an attempt of a period, or a time in Unix milliseconds. The end is fixed before the
 * first step, so that a request which continues after a crash stops at the same end.
 */
export interface Journey {
  /** The id of the journey, which holds the order's lease. A resend that continues the journey has the same id. */
  readonly id: string;
  readonly orderNo: number;
  /** The period to which the first of the outcomes applies. */
  readonly from: number;
  readonly to: { readonly cycleNo: number; readonly tryNo: number } | { readonly time: number };
}

/**
 * Returns the number of the period that the next step processes: the latest period if it waits for a retry, otherwise
 * the period after it. If the order has no such period, the step completes the order.
 */
export function nextCycleNo(order: Order): number {
  return isWaitingForRetry(order.latestPaymentStatus) ? order.cycleNo : order.cycleNo + 1;
}

const triesBefore = (order: Order, { tries }: OrderStanding) =>
  isWaitingForRetry(order.latestPaymentStatus) ? tries : 0;

/** Plans a time travel. Throws if the order does not allow it. The caller holds the order's lock. */
export function planJourney(order: Order, standing: OrderStanding, { to, outcomes }: AdvanceWish): Journey {
  requireNotEnded(order.status);
  if (order.status === 'INITIALIZING') throw new Rejection('SUBSCRIPTION_FIRST_PAYMENT_PENDING');
  if ('time' in to && to.time < Math.floor(order.createdAt / 1000) * 1000) {
    throw new Rejection('PARAM_INVALID', 'to must not be before the createTime of the order');
  }
  if (order.settlementMode === 'CHANNEL_COLLECT') {
    if (outcomes.some((outcome) => outcome !== 'SUCCESS')) {
      throw new Rejection('PARAM_INVALID', 'outcomes must be SUCCESS: in mode B no period can fail');
    }
  } else if (outcomes.length > 0 && !standing.rehearsable) {
    throw new Rejection('PARAM_INVALID', 'outcomes is not allowed: the institution of the payment channel decides');
  }
  const { orderNo } = order;
  const id = randomUUID();
  const from = nextCycleNo(order);
  if ('time' in to) return { id, orderNo, from, to };
  const tryNo = to.cycles === 1 ? triesBefore(order, standing) + 1 : 1;
  return { id, orderNo, from, to: { cycleNo: from + to.cycles - 1, tryNo } };
}

/** Returns the time of the next step. Undefined if the journey is at its end or the order allows no more steps. */
export function nextStepTime({ to }: Journey, order: Order, standing: OrderStanding): number | undefined {
  const { dueAt } = standing;
  if (order.status !== 'ACTIVE' || dueAt === null) return undefined;
  if ('time' in to) return dueAt <= to.time ? dueAt : undefined;
  const cycleNo = nextCycleNo(order);
  const isBefore = cycleNo < to.cycleNo || (cycleNo === to.cycleNo && triesBefore(order, standing) < to.tryNo);
  return isBefore ? dueAt : undefined;
}

/** Returns the time at which the journey ends. Undefined if a number of periods was requested. */
export const endTime = ({ to }: Journey): number | undefined => ('time' in to ? to.time : undefined);
