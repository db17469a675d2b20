import { type PaymentStatus, paymentStatuses } from '@perennial/wire';
import { createTransitions, type Transition } from '../transitions.js';

export type PaymentTrigger =
  | 'first-debit-started'
  | 'renewal-started'
  | 'billed'
  | 'debit-succeeded'
  | 'debit-failed' // for good
  | 'debit-failed-for-now' // a renewal that will be retried
  | 'retry-too-late' // the next period's time came first
  | 'unsubscribe'
  | 'refunded-in-part'
  | 'refunded-in-full';

export interface PaymentTransition extends Transition<PaymentStatus, PaymentTrigger> {
  /** Whether it sends payment.status.changed. */
  readonly emitsEvent: boolean;
  /** The trigger in the words of docs/interface.md. */
  readonly when: string;
}

export const PAYMENT_TRANSITIONS: readonly PaymentTransition[] = [
  { from: 'none', on: 'first-debit-started', to: 'PROCESSING', emitsEvent: false, when: '`orders/create`, A' },
  { from: 'none', on: 'billed', to: 'BILLED', emitsEvent: true, when: '`orders/create`, B' },
  // A period in WAIT has no row in the database. It is derived from its order.
  { from: 'WAIT', on: 'billed', to: 'BILLED', emitsEvent: true, when: 'due, B' },
  { from: 'WAIT', on: 'renewal-started', to: 'PROCESSING', emitsEvent: false, when: 'due, A' },
  { from: 'WAIT', on: 'unsubscribe', to: 'CANCELED', emitsEvent: true, when: 'unsubscribe' },
  { from: 'PROCESSING', on: 'debit-succeeded', to: 'SUCCESS', emitsEvent: true, when: 'the debit has succeeded' },
  { from: 'PROCESSING', on: 'debit-failed', to: 'FAIL', emitsEvent: true, when: 'the debit has failed for good' },
  {
    from: 'PROCESSING',
    on: 'debit-failed-for-now',
    to: 'FAIL_RETRY',
    emitsEvent: true,
    when: 'a renewal has failed for now',
  },
  {
    from: 'FAIL_RETRY',
    on: 'renewal-started',
    to: 'PROCESSING',
    emitsEvent: false,
    when: 'tried again: by schedule, or at once after `agreements/replace` or by an operator',
  },
  {
    from: 'FAIL_RETRY',
    on: 'retry-too-late',
    to: 'FAIL',
    emitsEvent: true,
    when: 'the time of the next period comes before another try',
  },
  {
    from: 'FAIL_RETRY',
    on: 'debit-succeeded',
    to: 'SUCCESS',
    emitsEvent: true,
    when: 'a debit that was taken for failed has succeeded after all',
  },
  { from: 'FAIL_RETRY', on: 'unsubscribe', to: 'CANCELED', emitsEvent: true, when: 'unsubscribe' },
  { from: 'SUCCESS', on: 'refunded-in-part', to: 'REFUND_PART', emitsEvent: true, when: 'an operator refunds a part' },
  {
    from: 'SUCCESS',
    on: 'refunded-in-full',
    to: 'REFUND_FULL',
    emitsEvent: true,
    when: 'an operator refunds all of it',
  },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-part',
    to: 'REFUND_PART',
    emitsEvent: true,
    when: 'an operator refunds another part',
  },
  {
    from: 'REFUND_PART',
    on: 'refunded-in-full',
    to: 'REFUND_FULL',
    emitsEvent: true,
    when: 'an operator refunds the rest',
  },
];

export const { find: findPaymentTransition, require: requirePaymentTransition } = createTransitions<
  PaymentStatus,
  PaymentTrigger,
  PaymentTransition
>(PAYMENT_TRANSITIONS);

/** The properties of a period's status that other code depends on. A new status must define all of them. */
interface PaymentStatusFacts {
  /** True if the period was paid or billed, even if it was refunded later. */
  readonly isPaid: boolean;
  /** True if the order's next step concerns this period again, not the next period. */
  readonly isWaitingForRetry: boolean;
  /**
   * True if the period may still be debited. If its order gets a new agreement, the next attempt uses that agreement.
   */
  readonly isOpen: boolean;
}

const PAYMENT_STATUS_FACTS: Readonly<Record<PaymentStatus, PaymentStatusFacts>> = {
  WAIT: { isPaid: false, isWaitingForRetry: false, isOpen: true },
  PROCESSING: { isPaid: false, isWaitingForRetry: false, isOpen: true },
  FAIL_RETRY: { isPaid: false, isWaitingForRetry: true, isOpen: true },
  SUCCESS: { isPaid: true, isWaitingForRetry: false, isOpen: false },
  BILLED: { isPaid: true, isWaitingForRetry: false, isOpen: false },
  REFUND_PART: { isPaid: true, isWaitingForRetry: false, isOpen: false },
  REFUND_FULL: { isPaid: true, isWaitingForRetry: false, isOpen: false },
  FAIL: { isPaid: false, isWaitingForRetry: false, isOpen: false },
  CANCELED: { isPaid: false, isWaitingForRetry: false, isOpen: false },
};

const statusesThat = (fact: keyof PaymentStatusFacts): readonly PaymentStatus[] =>
  paymentStatuses.filter((status) => PAYMENT_STATUS_FACTS[status][fact]);

export const PAID_STATUSES = statusesThat('isPaid');
export const WAITING_FOR_RETRY_STATUSES = statusesThat('isWaitingForRetry');
export const OPEN_STATUSES = statusesThat('isOpen');

export const isWaitingForRetry = (status: PaymentStatus | null): boolean =>
  status !== null && PAYMENT_STATUS_FACTS[status].isWaitingForRetry;
