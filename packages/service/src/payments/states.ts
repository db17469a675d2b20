import type { PaymentStatus } from '@perennial/wire';

/** What can happen to one period. */
export type PaymentTrigger =
  | 'first-debit-started'
  | 'renewal-started'
  | 'billed'
  | 'debit-succeeded'
  | 'debit-failed' // for good
  | 'debit-failed-for-now' // a renewal that is tried again
  | 'retry-too-late' // the next period's time came first
  | 'unsubscribe'
  | 'refunded-in-part'
  | 'refunded-in-full';

export interface PaymentTransition {
  readonly from: PaymentStatus | 'none';
  readonly on: PaymentTrigger;
  readonly to: PaymentStatus;
  /** Whether channels hear payment.status.changed. */
  readonly tells: boolean;
  readonly basis: string;
}

export const PAYMENT_TRANSITIONS: readonly PaymentTransition[] = [
  { from: 'none', on: 'first-debit-started', to: 'PROCESSING', tells: false, basis: 'interface: creation, mode A' },
  { from: 'none', on: 'billed', to: 'BILLED', tells: true, basis: 'interface: creation, mode B' },
  // WAIT has no row of its own in the database: a period that is not started follows from its order.
  { from: 'WAIT', on: 'billed', to: 'BILLED', tells: true, basis: 'interface: renewal, mode B' },
  { from: 'WAIT', on: 'renewal-started', to: 'PROCESSING', tells: false, basis: 'decision 0010: renewals' },
  { from: 'WAIT', on: 'unsubscribe', to: 'CANCELED', tells: true, basis: 'interface: future periods' },
  { from: 'FAIL_RETRY', on: 'renewal-started', to: 'PROCESSING', tells: false, basis: 'decision 0010: renewals' },
  { from: 'FAIL_RETRY', on: 'unsubscribe', to: 'CANCELED', tells: true, basis: 'interface: future periods' },
  { from: 'FAIL_RETRY', on: 'debit-succeeded', to: 'SUCCESS', tells: true, basis: 'decision 0016: late success' },
  { from: 'FAIL_RETRY', on: 'retry-too-late', to: 'FAIL', tells: true, basis: 'decision 0016: retries' },
  { from: 'PROCESSING', on: 'debit-succeeded', to: 'SUCCESS', tells: true, basis: 'interface: debit result' },
  { from: 'PROCESSING', on: 'debit-failed', to: 'FAIL', tells: true, basis: 'interface: debit result' },
  { from: 'PROCESSING', on: 'debit-failed-for-now', to: 'FAIL_RETRY', tells: true, basis: 'decision 0010: renewals' },
  { from: 'SUCCESS', on: 'refunded-in-part', to: 'REFUND_PART', tells: true, basis: 'interface: internal refund' },
  { from: 'SUCCESS', on: 'refunded-in-full', to: 'REFUND_FULL', tells: true, basis: 'interface: internal refund' },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-part',
    to: 'REFUND_PART',
    tells: true,
    basis: 'decision 0010: refunds add up',
  },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-full',
    to: 'REFUND_FULL',
    tells: true,
    basis: 'decision 0010: refunds add up',
  },
];

export function paymentAfter(from: PaymentStatus | 'none', on: PaymentTrigger): PaymentTransition | undefined {
  return PAYMENT_TRANSITIONS.find((row) => row.from === from && row.on === on);
}
