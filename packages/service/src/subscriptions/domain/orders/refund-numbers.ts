import { formatPaymentOrderNo, type PaymentReference, parsePaymentOrderNo } from './order-numbers.js';

export interface RefundReference extends PaymentReference {
  /** The sequence number of the refund within its period, from 1. */
  readonly refundSeq: number;
}

/** The maximum number of refunds per period: a refund number has two digits for the sequence number. */
export const MAX_REFUNDS = 99;

/**
 * Returns the refund number, the idempotency key at the institution. Begins with R, so that it never equals an attempt
 * number.
 */
export function formatRefundNo({ orderNo, cycleNo, refundSeq }: RefundReference): string {
  return `R${formatPaymentOrderNo(orderNo, cycleNo)}${String(refundSeq).padStart(2, '0')}`;
}

export function parseRefundNo(text: string): RefundReference | undefined {
  const payment = text.startsWith('R') ? parsePaymentOrderNo(text.slice(1, -2)) : undefined;
  const refundSeq = /\d\d$/.test(text) ? Number(text.slice(-2)) : 0;
  return payment && refundSeq > 0 ? { ...payment, refundSeq } : undefined;
}
