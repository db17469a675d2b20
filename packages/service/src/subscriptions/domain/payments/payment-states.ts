import type { PaymentStatus } from '@perennial/wire';
import { createTransitions, type Transition } from '../transitions.js';

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

export interface PaymentTransition extends Transition<PaymentStatus, PaymentTrigger> {
  /** Whether channels hear payment.status.changed. */
  readonly emitsEvent: boolean;
  /** The trigger as docs/interface.md says it. */
  readonly when: string;
  readonly basis: string;
}

export const PAYMENT_TRANSITIONS: readonly PaymentTransition[] = [
  {
    from: 'none',
    on: 'first-debit-started',
    to: 'PROCESSING',
    emitsEvent: false,
    when: '`orders/create`, A',
    basis: 'interface: creation, mode A',
  },
  {
    from: 'none',
    on: 'billed',
    to: 'BILLED',
    emitsEvent: true,
    when: '`orders/create`, B',
    basis: 'interface: creation, mode B',
  },
  // A period that is WAIT has no row in the database: it follows from its order.
  { from: 'WAIT', on: 'billed', to: 'BILLED', emitsEvent: true, when: 'due, B', basis: 'interface: renewal, mode B' },
  {
    from: 'WAIT',
    on: 'renewal-started',
    to: 'PROCESSING',
    emitsEvent: false,
    when: 'due, A',
    basis: 'decision 0010: renewals',
  },
  {
    from: 'WAIT',
    on: 'unsubscribe',
    to: 'CANCELED',
    emitsEvent: true,
    when: 'unsubscribe',
    basis: 'interface: future periods',
  },
  {
    from: 'PROCESSING',
    on: 'debit-succeeded',
    to: 'SUCCESS',
    emitsEvent: true,
    when: 'the debit has succeeded',
    basis: 'interface: debit result',
  },
  {
    from: 'PROCESSING',
    on: 'debit-failed',
    to: 'FAIL',
    emitsEvent: true,
    when: 'the debit has failed for good',
    basis: 'interface: debit result',
  },
  {
    from: 'PROCESSING',
    on: 'debit-failed-for-now',
    to: 'FAIL_RETRY',
    emitsEvent: true,
    when: 'a renewal has failed for now',
    basis: 'decision 0010: renewals',
  },
  {
    from: 'FAIL_RETRY',
    on: 'renewal-started',
    to: 'PROCESSING',
    emitsEvent: false,
    when: 'tried again: by schedule, or at once after `agreements/replace` or by an operator',
    basis: 'decision 0010: renewals',
  },
  {
    from: 'FAIL_RETRY',
    on: 'retry-too-late',
    to: 'FAIL',
    emitsEvent: true,
    when: 'the time of the next period comes before another try',
    basis: 'decision 0016: retries',
  },
  {
    from: 'FAIL_RETRY',
    on: 'debit-succeeded',
    to: 'SUCCESS',
    emitsEvent: true,
    when: 'a debit that was taken for failed has succeeded after all',
    basis: 'decision 0016: late success',
  },
  {
    from: 'FAIL_RETRY',
    on: 'unsubscribe',
    to: 'CANCELED',
    emitsEvent: true,
    when: 'unsubscribe',
    basis: 'interface: future periods',
  },
  {
    from: 'SUCCESS',
    on: 'refunded-in-part',
    to: 'REFUND_PART',
    emitsEvent: true,
    when: 'an operator refunds a part',
    basis: 'interface: internal refund',
  },
  {
    from: 'SUCCESS',
    on: 'refunded-in-full',
    to: 'REFUND_FULL',
    emitsEvent: true,
    when: 'an operator refunds all of it',
    basis: 'interface: internal refund',
  },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-part',
    to: 'REFUND_PART',
    emitsEvent: true,
    when: 'an operator refunds another part',
    basis: 'decision 0010: refunds add up',
  },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-full',
    to: 'REFUND_FULL',
    emitsEvent: true,
    when: 'an operator refunds the rest',
    basis: 'decision 0010: refunds add up',
  },
];

export const { find: findPaymentTransition, require: requirePaymentTransition } = createTransitions<
  PaymentStatus,
  PaymentTrigger,
  PaymentTransition
>(PAYMENT_TRANSITIONS);

/** The statuses of periods that were paid or billed, including those that were refunded later. */
export const PAID_STATUSES: readonly PaymentStatus[] = ['SUCCESS', 'REFUND_PART', 'REFUND_FULL', 'BILLED'];

/** The only status in which a period is debited again. */
export const WAITING_FOR_RETRY: PaymentStatus = 'FAIL_RETRY';
