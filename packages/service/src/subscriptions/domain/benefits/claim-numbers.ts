import { formatPaymentOrderNo } from '../orders/order-numbers.js';

/**
 * Identifies one benefit of one period. `position` is the benefit's place in the product's list of benefits, counted
 * from 1.
 */
export interface BenefitReference {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
}

/** Returns the claim number of a benefit. It never changes, so that a supplier can use it as idempotency key. */
export function formatClaimNo({ orderNo, cycleNo, position }: BenefitReference): string {
  return `C${formatPaymentOrderNo(orderNo, cycleNo)}${String(position).padStart(2, '0')}`;
}
