import { formatTime } from '@perennial/wire';
import { cycleOf, dueOf, lastPeriod, nextPayTime, type OrderModel, paidPeriods, refundedCent } from './order.js';

/**
 * Formats events as comparable lines, from the model and from the database. A line contains everything that the event
 * states.
 */
const orNone = (time: string | null) => time ?? 'none';
const timeOrNull = (at: number | null) => (at === null ? null : formatTime(at));

interface OrderLine {
  readonly orderStatus: string;
  readonly orderSuccessTime: string | null;
  readonly totalPaidAmountCent: number;
  readonly totalPaidCycles: number;
  readonly totalRefundAmountCent: number;
  readonly latestPaymentStatus: string | null;
  readonly nextPayTime: string | null;
}

function orderLine(line: OrderLine, at: string): string {
  return (
    `${at} order ${line.orderStatus}, since ${orNone(line.orderSuccessTime)}, ${line.totalPaidCycles} paid, ` +
    `${line.totalPaidAmountCent} in all, ${line.totalRefundAmountCent} refunded, latest ${line.latestPaymentStatus}, ` +
    `next ${orNone(line.nextPayTime)}`
  );
}

interface PaymentLine {
  readonly paymentStatus: string;
  readonly expectPayTime: string;
  readonly paidAt: string | null;
  readonly amountCent: number;
  readonly refundTime: string | null;
  readonly refundAmountCent: number;
}

function paymentLine(periods: string, line: PaymentLine, at: string): string {
  return (
    `${at} payment ${periods} ${line.paymentStatus}, of ${line.amountCent}, expected ${line.expectPayTime}, ` +
    `paid ${orNone(line.paidAt)}, ${line.refundAmountCent} refunded ${orNone(line.refundTime)}`
  );
}

export function tellOrder(order: OrderModel, at: number): OrderModel {
  const line = orderLine(
    {
      orderStatus: order.status,
      orderSuccessTime: timeOrNull(order.successAt),
      totalPaidAmountCent: paidPeriods(order).length * order.product.amountCent,
      totalPaidCycles: paidPeriods(order).length,
      totalRefundAmountCent: refundedCent(order),
      latestPaymentStatus: lastPeriod(order).status,
      nextPayTime: nextPayTime(order),
    },
    formatTime(at),
  );
  return { ...order, told: [...order.told, line] };
}

export function tellPayment(order: OrderModel, cycleNo: number, at: number): OrderModel {
  const period = order.periods[cycleNo - 1];
  if (!period) throw new Error(`the model tells of period ${cycleNo}, which it does not have`);
  const line = paymentLine(
    String(cycleNo),
    {
      paymentStatus: period.status,
      expectPayTime: formatTime(dueOf(order, cycleNo)),
      paidAt: timeOrNull(period.paidAt),
      amountCent: order.product.amountCent,
      refundTime: timeOrNull(period.refundAt),
      refundAmountCent: period.refundCent,
    },
    formatTime(at),
  );
  return { ...order, told: [...order.told, line] };
}

/** Adds one event line that announces all periods from `from` on as voided, because they were not started. */
export function tellVoided(order: OrderModel, from: number, at: number): OrderModel {
  const line = paymentLine(
    `${from} to ${order.product.totalCycles}`,
    {
      paymentStatus: 'CANCELED',
      expectPayTime: formatTime(dueOf(order, cycleOf(order) + 1)),
      paidAt: null,
      amountCent: order.product.amountCent,
      refundTime: null,
      refundAmountCent: 0,
    },
    formatTime(at),
  );
  return { ...order, told: [...order.told, line] };
}

export interface StoredEvent {
  readonly type: string;
  readonly cycleNo: number | null;
  readonly cycleTo: number | null;
  readonly at: string;
  readonly data: OrderLine & PaymentLine & { readonly cycleNo?: number };
}

export function lineOfStored({ type, cycleNo, cycleTo, at, data }: StoredEvent): string {
  if (type === 'order.status.changed') return orderLine(data, at);
  const own = data.cycleNo === cycleNo ? '' : `(data says ${data.cycleNo}) `;
  return paymentLine(`${own}${cycleNo}${cycleTo === null ? '' : ` to ${cycleTo}`}`, data, at);
}
