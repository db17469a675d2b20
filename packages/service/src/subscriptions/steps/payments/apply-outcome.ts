import type { DebitOutcome } from '../../../gateways/gateway.js';
import { dueAfterFirstPeriod, periodDueAt } from '../../domain/orders/calendar.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { findOrderTransition } from '../../domain/orders/order-states.js';
import { MAX_TRIES } from '../../domain/payments/debit-policy.js';
import {
  findPaymentTransition,
  type PaymentTransition,
  type PaymentTrigger,
} from '../../domain/payments/payment-states.js';
import { type NewEvent, orderChangedEvent, paymentChangedEvent } from '../../store/events/outbox.js';
import type { AttemptToSettle } from '../../store/payments/settle-debits-sql.js';

export type FinalOutcome = Extract<DebitOutcome, { kind: 'success' | 'declined' }>;

/** An order and its period after the outcome of a debit. */
export interface AppliedOutcome {
  readonly order: Order;
  readonly payment: Payment;
  readonly events: readonly NewEvent[];
  /** True if the order must be unsubscribed in the same transaction, because its agreement has ended. */
  readonly endsOrder?: boolean;
  /** The alert that operators get about the outcome, if any. */
  readonly alert?: 'debit-after-unsubscribe';
}

/**
 * Returns the order and its period after the outcome. Reads and writes nothing. The order's status tells whether this
 * was the first debit, a renewal, or a debit whose order was unsubscribed in the meantime.
 */
export function applyOutcome(
  order: Order,
  attempt: AttemptToSettle,
  outcome: FinalOutcome,
  now: number,
): AppliedOutcome {
  if (order.status === 'INITIALIZING') return applyToFirstDebit(order, attempt, outcome, now);
  if (order.status === 'ACTIVE') return applyToRenewal(order, attempt, outcome, now);
  if (order.status === 'UNSUBSCRIBED') return applyAfterUnsubscribe(order, attempt, outcome);
  throw createImpossibleError(order, attempt.payment);
}

function applyToFirstDebit(order: Order, attempt: AttemptToSettle, outcome: FinalOutcome, now: number): AppliedOutcome {
  const succeeded = outcome.kind === 'success';
  const row = findOrderTransition(order.status, succeeded ? 'first-debit-succeeded' : 'first-debit-failed');
  if (!row) throw createImpossibleError(order, attempt.payment);
  const { payment, eventsAbout, paid } = settlePeriod(order, attempt.payment, outcome, 'debit-failed');
  const next: Order = succeeded
    ? { ...paid, status: row.to, successAt: now, nextDueAt: dueAfterFirstPeriod(order) }
    : { ...paid, status: row.to, nextDueAt: null };
  return {
    order: next,
    payment,
    events: [...eventsAbout(next), ...(row.emitsEvent ? [orderChangedEvent(next)] : [])],
    // If the agreement ended during this debit, the order was not ended with it, because the order was not ACTIVE yet.
    endsOrder: succeeded && attempt.agreementEnded,
  };
}

function applyToRenewal(order: Order, attempt: AttemptToSettle, outcome: FinalOutcome, now: number): AppliedOutcome {
  const retryAt = outcome.kind === 'declined' ? nextTryAt(order, attempt, outcome.decline, now) : undefined;
  const failed = retryAt === undefined ? 'debit-failed' : 'debit-failed-for-now';
  const { payment, eventsAbout, paid } = settlePeriod(order, attempt.payment, outcome, failed);
  if (retryAt !== undefined) {
    const next = { ...paid, nextDueAt: retryAt };
    return { order: next, payment, events: eventsAbout(next) };
  }
  if (payment.cycleNo === order.totalCycles) {
    const row = findOrderTransition(order.status, 'last-period-settled');
    if (!row) throw createImpossibleError(order, payment);
    const next = { ...paid, status: row.to, nextDueAt: null };
    return {
      order: next,
      payment,
      events: [...eventsAbout(next), ...(row.emitsEvent ? [orderChangedEvent(next)] : [])],
    };
  }
  const next = { ...paid, nextDueAt: periodDueAt(order.createdAt, order, payment.cycleNo + 1) };
  return { order: next, payment, events: eventsAbout(next) };
}

/** Settles the period. There is no retry, because the order has ended. */
function applyAfterUnsubscribe(order: Order, attempt: AttemptToSettle, outcome: FinalOutcome): AppliedOutcome {
  const { payment, eventsAbout, paid } = settlePeriod(order, attempt.payment, outcome, 'debit-failed');
  return {
    order: paid,
    payment,
    events: eventsAbout(paid),
    ...(outcome.kind === 'success' ? { alert: 'debit-after-unsubscribe' } : {}),
  };
}

/**
 * Returns the time of the next attempt after a declined renewal, or undefined if there is none. The product's delays
 * count from the failed attempt. If the order got a new agreement during the attempt, the retry is immediate, whatever
 * the reason of the decline was, unless the replacement asked for the product's schedule. There is no retry at or after
 * the next period's due time, or after MAX_TRIES attempts.
 */
function nextTryAt(
  order: Order,
  { agreementId, cycleNo, tryNo, retryDelays, retryBySchedule }: AttemptToSettle,
  decline: Extract<FinalOutcome, { kind: 'declined' }>['decline'],
  now: number,
): number | undefined {
  if (tryNo >= MAX_TRIES) return undefined;
  const isReplaced = agreementId !== order.agreementId;
  const planned = isReplaced || decline === 'retryable' ? retryDelays[tryNo - 1] : undefined;
  const delay = isReplaced && !retryBySchedule ? 0 : planned;
  if (delay === undefined) return undefined;
  const at = now + delay * 1000;
  return at < periodDueAt(order.createdAt, order, cycleNo + 1) ? at : undefined;
}

interface SettledPeriod {
  readonly payment: Payment;
  /** The order with its new sums of payments. */
  readonly paid: Order;
  readonly eventsAbout: (order: Order) => NewEvent[];
}

function settlePeriod(
  order: Order,
  before: Payment,
  outcome: FinalOutcome,
  failed: PaymentTrigger & ('debit-failed' | 'debit-failed-for-now'),
): SettledPeriod {
  const succeeded = outcome.kind === 'success';
  const row: PaymentTransition | undefined = findPaymentTransition(
    before.status,
    succeeded ? 'debit-succeeded' : failed,
  );
  if (!row) throw createImpossibleError(order, before);
  const payment: Payment = { ...before, status: row.to, paidAt: succeeded ? outcome.paidAt : null };
  const totals = succeeded
    ? { paidCycles: order.paidCycles + 1, paidAmountCent: order.paidAmountCent + payment.amountCent }
    : {};
  return {
    payment,
    paid: { ...order, ...totals, latestPaymentStatus: row.to },
    eventsAbout: (next) => (row.emitsEvent ? [paymentChangedEvent(next, payment)] : []),
  };
}

function createImpossibleError(order: Order, payment: Payment): Error {
  return new Error(
    `order ${order.orderNo} is ${order.status} and period ${payment.cycleNo} ${payment.status}: nothing can be settled`,
  );
}
