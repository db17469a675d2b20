import { formatPaymentOrderNo, parsePaymentOrderNo } from '../orders/order-numbers.js';

/**
 * Identifies one benefit of one period. `position` is the benefit's place in the product's list of benefits, counted
 * from 1.
 */
export interface BenefitReference {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
}

/** Returns the claim number of a benefit. It never changes. */
export function formatClaimNo({ orderNo, cycleNo, position }: BenefitReference): string {
  return `C${formatPaymentOrderNo(orderNo, cycleNo)}${String(position).padStart(2, '0')}`;
}

/** Returns undefined if the text is no claim number. */
export function parseClaimNo(text: string): BenefitReference | undefined {
  const [, payment = '', position] = /^C(\d+)(\d\d)$/i.exec(text) ?? [];
  const period = parsePaymentOrderNo(payment);
  return period && { ...period, position: Number(position) };
}

/** A claim and the number of its codes that operators have replaced. */
export interface ClaimReference extends BenefitReference {
  readonly replaced: number;
}

/**
 * Returns the number under which a code is requested, which is the supplier's idempotency key. For the first code it is
 * the claim number. Each replacement has a further number, because a supplier issues one code per number.
 */
export function formatCodeNo(claim: ClaimReference): string {
  return claim.replaced === 0 ? formatClaimNo(claim) : `${formatClaimNo(claim)}-${claim.replaced}`;
}
