import { cancelInvalidAgreement, isAgreementEnded } from '../agreements/cancel-sql.js';
import { issueBenefits } from '../benefits/issue.js';
import { eventSettings } from '../channels/sql.js';
import type { Queryable } from '../db/database.js';
import { emit, type NewEvent, orderChanged, paymentChanged } from '../events/outbox.js';
import type { DebitOutcome } from '../gateways/gateway.js';
import { nextStepAt } from '../orders/calendar.js';
import { endOrder } from '../orders/end.js';
import { type AttemptReference, attemptNo } from '../orders/numbers.js';
import type { Order, Payment } from '../orders/order.js';
import { findPayments, lockOrderByNumber, storeOrder, storePayment } from '../orders/sql.js';
import { orderAfter } from '../orders/states.js';
import { raiseAlert } from './alerts-sql.js';
import { type Attempt, closeAttempt, findAttempt } from './attempts-sql.js';
import { paymentAfter } from './states.js';

export type FinalOutcome = Extract<DebitOutcome, { kind: 'success' | 'declined' }>;

export interface Settled {
  readonly order: Order;
  readonly payments: readonly Payment[];
  /** False when the attempt was settled before: then this is what came of it. */
  readonly changed: boolean;
}

/**
 * The one place where money changes state. Endpoint, recovery and notice all pass through it, under the order's row lock,
 * so that whoever comes second finds the attempt closed and changes nothing.
 */
export async function settle(
  tx: Queryable,
  reference: AttemptReference,
  outcome: FinalOutcome,
  now: number,
): Promise<Settled> {
  const order = await lockOrderByNumber(tx, reference.orderNo);
  if (!order) throw new Error(`attempt ${numberOf(reference)} has no order`);
  // Read after the lock was granted: before it, another settlement may have been under way.
  const attempt = await findAttempt(tx, reference);
  const payments = await findPayments(tx, reference.orderNo);
  const index = payments.findIndex((one) => one.cycleNo === reference.cycleNo);
  const payment = payments[index];
  if (!attempt || !payment) throw new Error(`attempt ${numberOf(reference)} has no period`);
  if (attempt.status !== 'STARTED') {
    await noticeContradiction(tx, attempt, outcome);
    return { order, payments, changed: false };
  }
  const succeeded = outcome.kind === 'success';
  await closeAttempt(
    tx,
    attempt,
    succeeded ? 'SUCCESS' : 'FAIL',
    succeeded
      ? { reason: null, institutionRef: outcome.institutionRef }
      : { reason: outcome.reason, institutionRef: null },
    now,
  );
  const after = firstDebitSettled(order, payment, outcome, now);
  await storePayment(tx, order.orderNo, after.payment);
  await storeOrder(tx, after.order);
  if (succeeded) await issueBenefits(tx, { ...order, cycleNo: payment.cycleNo }, now);
  else if (outcome.decline === 'agreement-invalid') await cancelInvalidAgreement(tx, attempt.agreementId);
  await emit(tx, order, now, after.events);
  const settled = { order: after.order, payments: payments.with(index, after.payment) };
  const isOver =
    succeeded && attempt.agreementId === order.agreementId && (await isAgreementEnded(tx, attempt.agreementId));
  if (!isOver) return { ...settled, changed: true };
  // The institution ended the agreement while this debit was on the way, and found no active order to end.
  const by = { source: 'AGREEMENT_INVALID', reason: 'the agreement was ended by the institution' } as const;
  return { ...(await endOrder(tx, await eventSettings(tx, order.channelId), after.order, by, now)), changed: true };
}

/** Pure: what an order and its first period become. */
export function firstDebitSettled(
  order: Order,
  payment: Payment,
  outcome: FinalOutcome,
  now: number,
): { order: Order; payment: Payment; events: NewEvent[] } {
  const succeeded = outcome.kind === 'success';
  const paymentRow = paymentAfter(payment.status, succeeded ? 'debit-succeeded' : 'debit-failed');
  const orderRow = orderAfter(order.status, succeeded ? 'first-debit-succeeded' : 'first-debit-failed');
  if (!paymentRow || !orderRow) {
    throw new Error(
      `order ${order.orderNo} is ${order.status} and its period ${payment.status}: nothing can be settled`,
    );
  }
  const settled: Payment = { ...payment, status: paymentRow.to, paidAt: succeeded ? outcome.paidAt : null };
  const next: Order = {
    ...order,
    status: orderRow.to,
    latestPaymentStatus: paymentRow.to,
    ...(succeeded
      ? {
          successAt: now,
          paidCycles: 1,
          paidAmountCent: payment.amountCent,
          nextDueAt: nextStepAt(order),
        }
      : { nextDueAt: null }),
  };
  return {
    order: next,
    payment: settled,
    events: [
      ...(paymentRow.tells ? [paymentChanged(next, settled)] : []),
      ...(orderRow.tells ? [orderChanged(next)] : []),
    ],
  };
}

/** News that differs from what was settled changes nothing by itself: somebody has to look. */
async function noticeContradiction(tx: Queryable, attempt: Attempt, outcome: FinalOutcome): Promise<void> {
  const now = outcome.kind === 'success' ? 'SUCCESS' : 'FAIL';
  if (now === attempt.status) return;
  await raiseAlert(
    tx,
    'debit-contradiction',
    numberOf(attempt),
    `settled as ${attempt.status}, later reported as ${now}`,
  );
}

const numberOf = ({ orderNo, cycleNo, tryNo }: AttemptReference) => attemptNo(orderNo, cycleNo, tryNo);
