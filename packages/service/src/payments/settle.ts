import { cancelInvalidAgreement } from '../agreements/cancel-sql.js';
import { eventSettings } from '../channels/sql.js';
import type { Queryable } from '../db/database.js';
import { endOrder } from '../orders/end.js';
import { type AttemptReference, attemptNo } from '../orders/numbers.js';
import type { Order, Payment } from '../orders/order.js';
import { raiseAlert } from './alerts-sql.js';
import { type FinalOutcome, type Outcome, outcomeOf } from './outcome.js';
import { findSettleable, lockOrders, type Settleable, type SettledRow, storeSettled } from './settle-sql.js';

export interface Settlement {
  readonly attempt: AttemptReference;
  readonly outcome: FinalOutcome;
}

export interface Settled {
  readonly order: Order;
  readonly payment: Payment;
  /** False when the attempt was settled before: then this is what came of it. */
  readonly changed: boolean;
}

/**
 * The one place where money changes state. Endpoint, renewal, recovery, notice and time travel all pass through it, under
 * the order's row lock, so that whoever comes second finds the attempt closed and changes nothing. A batch holds each
 * order once.
 */
export async function settle(tx: Queryable, settlements: readonly Settlement[], now: number): Promise<Settled[]> {
  const orders = await lockOrders(
    tx,
    settlements.map(({ attempt }) => attempt.orderNo),
  );
  const attempts = await findSettleable(
    tx,
    settlements.map(({ attempt }) => attempt),
  );
  const all = settlements.map(({ attempt: reference, outcome }) => {
    const order = orders.get(reference.orderNo);
    const attempt = attempts.get(reference.orderNo);
    if (!order || !attempt) throw new Error(`attempt ${numberOf(reference)} has no order or period`);
    const counts = attempt.status === 'STARTED' || isLateSuccess(order, attempt, outcome);
    return { order, attempt, outcome, after: counts ? outcomeOf(order, attempt, outcome, now) : undefined };
  });
  const rows = all.flatMap(({ attempt, outcome, after }) => (after ? [rowOf(attempt, outcome, after)] : []));
  if (rows.length > 0) await storeSettled(tx, rows, now);
  const settled: Settled[] = [];
  for (const { order, attempt, outcome, after } of all) {
    await noticeContradiction(tx, attempt, outcome, after !== undefined);
    if (!after) {
      settled.push({ order, payment: attempt.payment, changed: false });
      continue;
    }
    const { payment } = after;
    settled.push({ order: await consequences(tx, attempt, outcome, after, now), payment, changed: true });
  }
  return settled;
}

/** For one attempt. */
export async function settleOne(
  tx: Queryable,
  attempt: AttemptReference,
  outcome: FinalOutcome,
  now: number,
): Promise<Settled> {
  const [settled] = await settle(tx, [{ attempt, outcome }], now);
  if (!settled) throw new Error('one settlement has one result');
  return settled;
}

function rowOf(attempt: Settleable, outcome: FinalOutcome, { order, payment, events }: Outcome): SettledRow {
  const succeeded = outcome.kind === 'success';
  return {
    attempt,
    attemptStatus: succeeded ? 'SUCCESS' : 'FAIL',
    reason: succeeded ? null : outcome.reason,
    institutionRef: succeeded ? outcome.institutionRef : null,
    order,
    payment,
    issuesBenefits: succeeded,
    events,
  };
}

/** What few settlements bring with them. */
async function consequences(
  tx: Queryable,
  attempt: Settleable,
  outcome: FinalOutcome,
  { order, ends, alert }: Outcome,
  now: number,
): Promise<Order> {
  if (outcome.kind === 'declined' && outcome.decline === 'agreement-invalid') {
    await cancelInvalidAgreement(tx, attempt.agreementId);
  }
  if (alert) await raiseAlert(tx, alert, numberOf(attempt), 'the order was unsubscribed while it was debited');
  if (ends === undefined) return order;
  const by = { source: 'AGREEMENT_INVALID', reason: ends.slice(0, 1024) } as const;
  return (await endOrder(tx, await eventSettings(tx, order.channelId), order, by, now)).order;
}

/** The period would be debited again, though its money has been taken after all: then it is paid. */
function isLateSuccess(order: Order, attempt: Settleable, outcome: FinalOutcome): boolean {
  const isOpen = order.status === 'ACTIVE' && attempt.payment.status === 'FAIL_RETRY';
  return isOpen && attempt.status === 'FAIL' && outcome.kind === 'success';
}

/**
 * News that differs from what was settled: whether or not it still counts, somebody has to look. What counted has an alert
 * of its own, which no later contradiction writes over.
 */
async function noticeContradiction(
  tx: Queryable,
  attempt: Settleable,
  outcome: FinalOutcome,
  counted: boolean,
): Promise<void> {
  const now = outcome.kind === 'success' ? 'SUCCESS' : 'FAIL';
  if (attempt.status === 'STARTED' || attempt.status === now) return;
  const detail = `settled as ${attempt.status}, later reported as ${now}`;
  await raiseAlert(tx, counted ? 'debit-late-success' : 'debit-contradiction', numberOf(attempt), detail);
}

const numberOf = ({ orderNo, cycleNo, tryNo }: AttemptReference) => attemptNo(orderNo, cycleNo, tryNo);
