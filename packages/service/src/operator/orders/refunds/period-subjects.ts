import { type PaymentReference, parseOrderNo } from '../../../subscriptions/domain/orders/order-numbers.js';

/** Formats a period as approvals and bulk runs name it: `orderNo-cycleNo`. */
export function formatPeriodSubject(orderNo: number | string, cycleNo: number): string {
  return `${orderNo}-${cycleNo}`;
}

/** Returns undefined if the text names no period. */
export function parsePeriodSubject(text: string): PaymentReference | undefined {
  const [, order = '', cycle = ''] = /^(\d+)-([1-9]\d{0,3})$/.exec(text) ?? [];
  const orderNo = parseOrderNo(order);
  return orderNo === undefined ? undefined : { orderNo, cycleNo: Number(cycle) };
}
