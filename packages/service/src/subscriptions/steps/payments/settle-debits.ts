import { deriveDeclineKind } from '@perennial/wire/bridge';
import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlert } from '../../../alerts/alerts-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { type AttemptReference, formatAttemptNo } from '../../domain/orders/order-numbers.js';
import { isWaitingForRetry } from '../../domain/payments/payment-states.js';
import { releaseNumbers } from '../../store/agreements/cancel-unused-sql.js';
import { lockAgreements } from '../../store/agreements/end-agreements-sql.js';
import { lockOrders } from '../../store/orders/orders-sql.js';
import { findAgreementsOfAttempts } from '../../store/payments/attempts-sql.js';
import {
  type AttemptToSettle,
  findAttemptsToSettle,
  type SettledDebitRow,
  storeSettledDebits,
} from '../../store/payments/settle-debits-sql.js';
import {
  agreementsOfFirstDebits,
  endAgreements,
  type LockedAgreements,
  lockAgreementsWithOrders,
  unsubscribedByInstitution,
} from '../ending/end-agreements.js';
import { endOrders } from '../ending/end-orders.js';
import { type AppliedOutcome, applyOutcome, type FinalOutcome } from './apply-outcome.js';

export interface Settlement {
  readonly attempt: AttemptReference;
  readonly outcome: FinalOutcome;
}

export interface SettledDebit {
  readonly order: Order;
  readonly payment: Payment;
  /** False if the attempt was already settled. The order and the payment are then unchanged. */
  readonly changed: boolean;
}

/**
 * Stores the outcomes of debits, even if their orders have changed since the debits were sent. Called for renewals,
 * recovery, notices from institutions and time travel, and for creations that `settleKnownDebits` could not settle.
 * Takes the orders' row locks, so a second caller finds the attempt settled and changes nothing. A batch contains each
 * order at most once.
 */
export async function settleDebits(
  tx: Queryable,
  settlements: readonly Settlement[],
  now: number,
): Promise<SettledDebit[]> {
  const held = await lockForSettlement(tx, settlements);
  const attempts = await findAttemptsToSettle(
    tx,
    settlements.map(({ attempt }) => attempt),
  );
  const all = settlements.map(({ attempt: reference, outcome }) => {
    const order = held.orders.get(reference.orderNo);
    const attempt = attempts.get(reference.orderNo);
    if (!order || !attempt) throw new Error(`attempt ${attemptNoOf(reference)} has no order or period`);
    const counts = attempt.status === 'STARTED' || isLateSuccess(order, attempt, outcome);
    return { order, attempt, outcome, after: counts ? applyOutcome(order, attempt, outcome, now) : undefined };
  });
  const rows = all.flatMap(({ attempt, outcome, after }) => (after ? [toSettledRow(attempt, outcome, after)] : []));
  if (rows.length > 0) await storeSettledDebits(tx, rows, now);
  await releaseNumbersOfFailedFirstDebits(tx, rows);
  const orders = await endOrdersOfEndedAgreements(
    tx,
    held,
    all.flatMap(({ attempt, outcome, after }) => (after ? [{ attempt, outcome, after }] : [])),
    now,
  );
  const settled: SettledDebit[] = [];
  for (const { order, attempt, outcome, after } of all) {
    await alertContradiction(tx, attempt, outcome, after !== undefined);
    if (after?.alert) {
      await raiseAlert(tx, after.alert, attemptNoOf(attempt), alertText('debit-after-unsubscribe'));
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
 * Locks the orders, then the agreements that the settlements need or end. If agreements end, locks all orders on them
 * together with the orders of the batch, to avoid deadlocks (docs/decisions/0010).
 */
async function lockForSettlement(tx: Queryable, settlements: readonly Settlement[]): Promise<LockedAgreements> {
  const orderNos = settlements.map(({ attempt }) => attempt.orderNo);
  const declined = settlements.filter(({ outcome }) => endsAgreement(outcome)).map(({ attempt }) => attempt);
  if (declined.length > 0) return lockAgreementsWithOrders(tx, await findAgreementsOfAttempts(tx, declined), orderNos);
  const orders = await lockOrders(tx, orderNos);
  const firsts = agreementsOfFirstDebits([...orders.values()]);
  if (firsts.length > 1) await lockAgreements(tx, firsts);
  return { orders, agreements: [] };
}

/**
 * Releases the institution numbers of shared agreements whose order failed in its first debit. The agreements are
 * locked.
 */
async function releaseNumbersOfFailedFirstDebits(tx: Queryable, rows: readonly SettledDebitRow[]): Promise<void> {
  const undebited = rows.flatMap(({ order }) =>
    order.status === 'TERMINATED' && order.agreementId !== null ? [order.agreementId] : [],
  );
  if (undebited.length > 0) await releaseNumbers(tx, undebited);
}

export const endsAgreement = (outcome: FinalOutcome): outcome is Extract<FinalOutcome, { kind: 'declined' }> =>
  outcome.kind === 'declined' && outcome.decline === 'agreement-invalid';

interface CountedSettlement {
  readonly attempt: AttemptToSettle;
  readonly outcome: FinalOutcome;
  readonly after: AppliedOutcome;
}

/**
 * Ends orders whose first debit succeeded although their agreement had ended meanwhile. If a decline says that an
 * agreement has ended, ends it with all orders on it. Returns all locked orders in their new state.
 */
async function endOrdersOfEndedAgreements(
  tx: Queryable,
  { orders: before, agreements }: LockedAgreements,
  counted: readonly CountedSettlement[],
  now: number,
): Promise<Map<number, Order>> {
  const orders = new Map(before);
  const remember = (changed: readonly Order[]) => {
    for (const order of changed) orders.set(order.orderNo, order);
  };
  remember(counted.map(({ after }) => after.order));
  const ending = counted.filter(({ after }) => after.endsOrder).map(({ after }) => after.order);
  remember(await endOrders(tx, ending, unsubscribedByInstitution('the agreement was ended by the institution'), now));
  for (const { attempt, outcome } of counted) {
    if (!endsAgreement(outcome)) continue;
    const number = agreements.find(({ agreementId }) => agreementId === attempt.agreementId)?.number;
    if (number === undefined) throw new Error(`agreement ${attempt.agreementId} is debited and has no number`);
    const agreementIds = agreements.filter((one) => one.number === number).map(({ agreementId }) => agreementId);
    const by = unsubscribedByInstitution(outcome.reason);
    remember(await endAgreements(tx, { agreementIds, orders: orders.values(), by }, now));
  }
  return orders;
}

export async function settleDebit(
  tx: Queryable,
  attempt: AttemptReference,
  outcome: FinalOutcome,
  now: number,
): Promise<SettledDebit> {
  const [settled] = await settleDebits(tx, [{ attempt, outcome }], now);
  if (!settled) throw new Error('one settlement has one result');
  return settled;
}

const findDeclineKind = ({ declineKind, reason, decline }: Extract<FinalOutcome, { kind: 'declined' }>) =>
  declineKind ?? deriveDeclineKind(reason, decline === 'agreement-invalid' ? 'AGREEMENT_INVALID' : undefined);

export function toSettledRow(
  attempt: AttemptReference,
  outcome: FinalOutcome,
  { order, payment, events }: AppliedOutcome,
): SettledDebitRow {
  const succeeded = outcome.kind === 'success';
  return {
    attempt,
    attemptStatus: succeeded ? 'SUCCESS' : 'FAIL',
    reason: succeeded ? null : outcome.reason,
    declineKind: succeeded ? null : findDeclineKind(outcome),
    institutionRef: succeeded ? outcome.institutionRef : null,
    order,
    payment,
    issuesBenefits: succeeded,
    events,
  };
}

/** Returns true if an attempt settled as failed has succeeded after all, and its period still waits for a retry. */
function isLateSuccess(order: Order, attempt: AttemptToSettle, outcome: FinalOutcome): boolean {
  const isOpen = order.status === 'ACTIVE' && isWaitingForRetry(attempt.payment.status);
  return isOpen && attempt.status === 'FAIL' && outcome.kind === 'success';
}

/**
 * Raises an alert if the outcome contradicts the outcome that was settled before. An accepted late success raises an
 * alert of a different kind, so that both alerts are kept if a later outcome contradicts the late success.
 */
async function alertContradiction(
  tx: Queryable,
  attempt: AttemptToSettle,
  outcome: FinalOutcome,
  counted: boolean,
): Promise<void> {
  const now = outcome.kind === 'success' ? 'SUCCESS' : 'FAIL';
  if (attempt.status === 'STARTED' || attempt.status === now) return;
  const kind = counted ? 'debit-late-success' : 'debit-contradiction';
  await raiseAlert(tx, kind, attemptNoOf(attempt), alertText(kind, attempt.status, now));
}

const attemptNoOf = ({ orderNo, cycleNo, tryNo }: AttemptReference) => formatAttemptNo(orderNo, cycleNo, tryNo);
