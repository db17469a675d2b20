import { type PaymentReference, parseOrderNo } from '../../../subscriptions/domain/orders/order-numbers.js';

/** A period, as approvals and bulk runs name it: `orderNo-cycleNo`. */
export function formatPeriodSubject(orderNo: number | string, cycleNo: number): string {
  return `${orderNo}-${cycleNo}`;
}

/** Undefined when the text cannot name a period. */
export function parsePeriodSubject(text: string): PaymentReference | undefined {
  const [, order = '', cycle = ''] = /^(\d+)-([1-9]\d{0,3})$/.exec(text) ?? [];
  const orderNo = parseOrderNo(order);
  return orderNo === undefined ? undefined : { orderNo, cycleNo: Number(cycle) };
}
