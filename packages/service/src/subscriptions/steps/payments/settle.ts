import { raiseAlert } from '../../../platform/alerts/alerts-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import { type AttemptReference, attemptNo } from '../../domain/orders/numbers.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { releaseNumbers } from '../../store/agreements/cancel-sql.js';
import { lockAgreements } from '../../store/agreements/ended-sql.js';
import { lockOrders } from '../../store/orders/sql.js';
import { findAgreementsOf } from '../../store/payments/attempts-sql.js';
import { findSettleable, type Settleable, type SettledRow, storeSettled } from '../../store/payments/settle-sql.js';
import { endOrders } from '../ending/end.js';
import {
  agreementsOfFirstDebits,
  endAgreements,
  type HeldAgreements,
  holdAgreements,
  saidByInstitution,
} from '../ending/end-agreements.js';
import { type FinalOutcome, type Outcome, outcomeOf } from './outcome.js';

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
  const held = await hold(tx, settlements);
  const attempts = await findSettleable(
    tx,
    settlements.map(({ attempt }) => attempt),
  );
  const all = settlements.map(({ attempt: reference, outcome }) => {
    const order = held.orders.get(reference.orderNo);
    const attempt = attempts.get(reference.orderNo);
    if (!order || !attempt) throw new Error(`attempt ${numberOf(reference)} has no order or period`);
    const counts = attempt.status === 'STARTED' || isLateSuccess(order, attempt, outcome);
    return { order, attempt, outcome, after: counts ? outcomeOf(order, attempt, outcome, now) : undefined };
  });
  const rows = all.flatMap(({ attempt, outcome, after }) => (after ? [rowOf(attempt, outcome, after)] : []));
  if (rows.length > 0) await storeSettled(tx, rows, now);
  await releaseUndebited(tx, rows);
  const orders = await endWhatHasEnded(
    tx,
    held,
    all.flatMap(({ attempt, outcome, after }) => (after ? [{ attempt, outcome, after }] : [])),
    now,
  );
  const settled: Settled[] = [];
  for (const { order, attempt, outcome, after } of all) {
    await noticeContradiction(tx, attempt, outcome, after !== undefined);
    if (after?.alert) {
      await raiseAlert(tx, after.alert, numberOf(attempt), 'the order was unsubscribed while it was debited');
    }
    settled.push({
      order: orders.get(order.orderNo) ?? order,
      payment: after?.payment ?? attempt.payment,
      changed: after !== undefined,
    });
  }
  return settled;
}

/**
 * First the orders, then the agreements that the settlements depend on or end. A batch that ends agreements locks every order
 * on them together with its own: so no circle can come of it (docs/decisions/0010).
 */
async function hold(tx: Queryable, settlements: readonly Settlement[]): Promise<HeldAgreements> {
  const orderNos = settlements.map(({ attempt }) => attempt.orderNo);
  const declined = settlements.filter(({ outcome }) => endsAgreement(outcome)).map(({ attempt }) => attempt);
  if (declined.length > 0) return holdAgreements(tx, await findAgreementsOf(tx, declined), orderNos);
  const orders = await lockOrders(tx, orderNos);
  const firsts = agreementsOfFirstDebits([...orders.values()]);
  if (firsts.length > 1) await lockAgreements(tx, firsts);
  return { orders, agreements: [] };
}

/** What was shared for an order whose first debit failed holds no number. The agreements are locked. */
async function releaseUndebited(tx: Queryable, rows: readonly SettledRow[]): Promise<void> {
  const undebited = rows.flatMap(({ order }) =>
    order.status === 'TERMINATED' && order.agreementId !== null ? [order.agreementId] : [],
  );
  if (undebited.length > 0) await releaseNumbers(tx, undebited);
}

const endsAgreement = (outcome: FinalOutcome): outcome is Extract<FinalOutcome, { kind: 'declined' }> =>
  outcome.kind === 'declined' && outcome.decline === 'agreement-invalid';

interface Counted {
  readonly attempt: Settleable;
  readonly outcome: FinalOutcome;
  readonly after: Outcome;
}

/** Agreements of which a decline has said that they are gone, with all orders on them. Gives the orders as they are then. */
async function endWhatHasEnded(
  tx: Queryable,
  { orders: before, agreements }: HeldAgreements,
  counted: readonly Counted[],
  now: number,
): Promise<Map<number, Order>> {
  const orders = new Map(before);
  const take = (changed: readonly Order[]) => {
    for (const order of changed) orders.set(order.orderNo, order);
  };
  take(counted.map(({ after }) => after.order));
  const ending = counted.filter(({ after }) => after.ends).map(({ after }) => after.order);
  take(await endOrders(tx, ending, saidByInstitution('the agreement was ended by the institution'), now));
  for (const { attempt, outcome } of counted) {
    if (!endsAgreement(outcome)) continue;
    const number = agreements.find(({ agreementId }) => agreementId === attempt.agreementId)?.number;
    if (number === undefined) throw new Error(`agreement ${attempt.agreementId} is debited and has no number`);
    const agreementIds = agreements.filter((one) => one.number === number).map(({ agreementId }) => agreementId);
    const by = saidByInstitution(outcome.reason);
    take(await endAgreements(tx, { agreementIds, orders: orders.values(), by }, now));
  }
  return orders;
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
