import { formatPaymentOrderNo } from '../orders/order-numbers.js';

/** One benefit of one period. `position` is its place in the product's list of benefits. */
export interface BenefitReference {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
}

/** Follows from the benefit alone, so it can serve as the idempotency key at a supplier. */
export function formatClaimNo({ orderNo, cycleNo, position }: BenefitReference): string {
  return `C${formatPaymentOrderNo(orderNo, cycleNo)}${String(position).padStart(2, '0')}`;
}
