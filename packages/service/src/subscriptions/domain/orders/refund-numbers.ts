import { formatPaymentOrderNo, type PaymentReference, parsePaymentOrderNo } from './order-numbers.js';

export interface RefundReference extends PaymentReference {
  /** Counts the refunds of one period from 1. */
  readonly refundSeq: number;
}

/** A refund number has two digits for the sequence. */
export const MAX_REFUNDS = 99;

/** Returns the idempotency key of a refund at the institution. The letter distinguishes it from an attempt number. */
export function formatRefundNo({ orderNo, cycleNo, refundSeq }: RefundReference): string {
  return `R${formatPaymentOrderNo(orderNo, cycleNo)}${String(refundSeq).padStart(2, '0')}`;
}

export function parseRefundNo(text: string): RefundReference | undefined {
  const payment = text.startsWith('R') ? parsePaymentOrderNo(text.slice(1, -2)) : undefined;
  const refundSeq = /\d\d$/.test(text) ? Number(text.slice(-2)) : 0;
  return payment && refundSeq > 0 ? { ...payment, refundSeq } : undefined;
}
