import { formatPaymentOrderNo } from '../orders/order-numbers.js';

/** One benefit of one period, by its place among the product's. */
export interface BenefitReference {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
}

/** Known before anybody claims, and so a supplier's idempotency key. */
export function formatClaimNo({ orderNo, cycleNo, position }: BenefitReference): string {
  return `C${formatPaymentOrderNo(orderNo, cycleNo)}${String(position).padStart(2, '0')}`;
}
