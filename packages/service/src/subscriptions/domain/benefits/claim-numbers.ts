import { formatPaymentOrderNo } from '../orders/order-numbers.js';

/** One benefit of one period. `position` is its index in the product's list of benefits. */
export interface BenefitReference {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
}

/** Depends on the benefit alone, so the supplier can use it as idempotency key. */
export function formatClaimNo({ orderNo, cycleNo, position }: BenefitReference): string {
  return `C${formatPaymentOrderNo(orderNo, cycleNo)}${String(position).padStart(2, '0')}`;
}
