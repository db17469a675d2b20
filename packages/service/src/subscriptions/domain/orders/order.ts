import {
  formatTime,
  type MainOrder,
  type OrderStatus,
  type PaymentStatus,
  type PeriodType,
  type SettlementMode,
} from '@perennial/wire';
import { isWaitingForRetry } from '../payments/payment-states.js';
import { periodDueAt } from './calendar.js';

/** An order as stored. Times are in Unix milliseconds. */
export interface Order {
  readonly orderNo: number;
  readonly channelId: number;
  readonly externalOrderNo: string;
  readonly channelUserId: string;
  readonly productCode: string;
  readonly settlementMode: SettlementMode;
  readonly status: OrderStatus;
  readonly periodType: PeriodType;
  readonly period: number;
  readonly totalCycles: number;
  readonly amountCent: number;
  readonly createdAt: number;
  readonly successAt: number | null;
  readonly unsubscribedAt: number | null;
  /** The number of the last period that has begun. */
  readonly cycleNo: number;
  readonly nextDueAt: number | null;
  readonly paidCycles: number;
  readonly paidAmountCent: number;
  readonly refundAmountCent: number;
  readonly latestPaymentStatus: PaymentStatus | null;
  readonly agreementId: number | null;
  readonly shared: boolean;
}

/** A period: read from the database, or derived from its order if it has not begun. */
export interface Payment {
  readonly cycleNo: number;
  readonly status: PaymentStatus;
  readonly expectAt: number;
  readonly paidAt: number | null;
  readonly amountCent: number;
  readonly refundAmountCent: number;
  readonly refundAt: number | null;
}

export const formatTimeOrNull = (at: number | null): string | null => (at === null ? null : formatTime(at));

/**
 * Returns the time of the next planned debit or billing. Null if none is planned, for example if the order only has to
 * be completed.
 */
export function nextPayAt(order: Order): number | null {
  if (order.status !== 'ACTIVE') return null;
  if (isWaitingForRetry(order.latestPaymentStatus)) return order.nextDueAt;
  if (order.cycleNo === order.totalCycles) return null;
  // `nextDueAt` is null during a debit in flight. The due time of the next period is known nevertheless.
  return order.nextDueAt ?? periodDueAt(order.createdAt, order, order.cycleNo + 1);
}

export const nextPayTime = (order: Order): string | null => formatTimeOrNull(nextPayAt(order));

/** Returns the status of the periods that have not begun. Undefined if answers do not show such periods. */
export function unstartedStatus(order: Order): 'WAIT' | 'CANCELED' | undefined {
  if (order.status === 'ACTIVE') return 'WAIT';
  return order.status === 'UNSUBSCRIBED' ? 'CANCELED' : undefined;
}

/** Returns the number of periods that an answer about the order shows. */
export function countShownPeriods(order: Order): number {
  return unstartedStatus(order) === undefined ? order.cycleNo : order.totalCycles;
}

export function unstartedPayment(order: Order, cycleNo: number, status: PaymentStatus): Payment {
  return {
    cycleNo,
    status,
    expectAt: periodDueAt(order.createdAt, order, cycleNo),
    paidAt: null,
    amountCent: order.amountCent,
    refundAmountCent: 0,
    refundAt: null,
  };
}

/** Returns one period, whether it has begun or not. Undefined if answers about the order do not show it. */
export function findPaymentOfCycle(order: Order, started: readonly Payment[], cycleNo: number): Payment | undefined {
  if (cycleNo <= order.cycleNo) return started.find((payment) => payment.cycleNo === cycleNo);
  const status = unstartedStatus(order);
  return status === undefined || cycleNo > order.totalCycles ? undefined : unstartedPayment(order, cycleNo, status);
}

/** The fields of an order in an answer, without its link and its periods. */
export type OrderHead = Omit<MainOrder, 'redeemUrl' | 'paymentRecords'>;

export function createOrderHead(order: Order): OrderHead {
  return {
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    createTime: formatTime(order.createdAt),
    orderStatus: order.status,
    orderSuccessTime: formatTimeOrNull(order.successAt),
    periodType: order.periodType,
    period: order.period,
    totalCycles: order.totalCycles,
    totalPaidAmountCent: order.paidAmountCent,
    totalRefundAmountCent: order.refundAmountCent,
    nextPayTime: nextPayTime(order),
    unsubscribeTime: formatTimeOrNull(order.unsubscribedAt),
  };
}
