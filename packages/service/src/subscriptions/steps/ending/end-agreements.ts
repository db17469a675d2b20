import type { Queryable } from '../../../platform/db/database.js';
import type { Order } from '../../domain/orders/order.js';
import {
  cancelAgreements,
  findAgreementsOfSameNumbers,
  findOrdersOnAgreements,
  isAgreementBound,
  lockAgreements,
  type NumberedAgreement,
} from '../../store/agreements/end-agreements-sql.js';
import { lockOrders } from '../../store/orders/orders-sql.js';
import { endOrders, type UnsubscribedBy } from './end-orders.js';

/** Agreements that may be ended, and every order in ACTIVE or INITIALIZING on them. All are locked. */
export interface LockedAgreements {
  /** The orders by number, ascending. Includes the orders that the caller asked for. */
  readonly orders: ReadonlyMap<number, Order>;
  readonly agreements: readonly NumberedAgreement[];
}

const MAX_ROUNDS = 10;

/**
 * Locks everything that is needed to end agreements, in the order of docs/decisions/0010: first orders, including the
 * caller's, then agreements. Includes all bound agreements with the same institution numbers, and their orders in
 * ACTIVE or INITIALIZING. The caller must hold either no lock on any order or agreement, or all of these locks.
 */
export async function lockAgreementsWithOrders(
  tx: Queryable,
  agreementIds: readonly number[],
  orderNos: readonly number[] = [],
): Promise<LockedAgreements> {
  await tx.query('savepoint without_locks');
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const agreements = await findAgreementsOfSameNumbers(tx, agreementIds);
    const orders = await lockOrders(tx, [...new Set([...orderNos, ...agreements.flatMap((one) => one.orderNos)])]);
    const ids = agreements.map(({ agreementId }) => agreementId);
    await lockAgreements(tx, [...ids, ...agreementsOfFirstDebits([...orders.values()])]);
    const running = await findOrdersOnAgreements(tx, ids);
    if (running.every((orderNo) => orders.has(orderNo))) {
      await tx.query('release savepoint without_locks');
      return { orders, agreements };
    }
    // A further order has started on one of the agreements. The transaction of that order may wait for an agreement's
    // lock. So this transaction releases all its locks before the next round.
    await tx.query('rollback to savepoint without_locks');
  }
  throw new Error(`orders keep coming to agreements ${agreementIds}`);
}

/**
 * Returns the agreements of orders whose first debit is unsettled. They must be locked, because the debit's settlement
 * depends on their status.
 */
export function agreementsOfFirstDebits(orders: readonly Order[]): number[] {
  return orders.flatMap(({ status, agreementId }) =>
    status === 'INITIALIZING' && agreementId !== null ? [agreementId] : [],
  );
}

/** Describes an unsubscription that follows from the institution's report that the agreement has ended. */
export const unsubscribedByInstitution = (reason: string): UnsubscribedBy => ({
  source: 'AGREEMENT_INVALID',
  reason: reason.slice(0, 1024),
});

export interface AgreementEnding {
  readonly agreementIds: readonly number[];
  /** Orders that the caller has locked. Those that are ACTIVE on one of the agreements are ended. */
  readonly orders: Iterable<Order>;
  readonly by: UnsubscribedBy;
  /** The agreement that a job cancels at the institution. Undefined if the institution knows of the end already. */
  readonly tellBy?: number;
}

/** Ends agreements and the orders on them. Agreements that may have orders are ended only by this function. */
export async function endAgreements(tx: Queryable, ending: AgreementEnding, now: number): Promise<Order[]> {
  const { agreementIds, orders, by, tellBy } = ending;
  await cancelAgreements(tx, agreementIds, tellBy);
  const ended = new Set(agreementIds);
  const active = [...orders].filter(
    ({ status, agreementId }) => status === 'ACTIVE' && agreementId !== null && ended.has(agreementId),
  );
  return endOrders(tx, active, by, now);
}

/** The reason for ending an order that is ACTIVE although its agreement is not bound. Only old data has such orders. */
export const UNSUBSCRIBED_AS_LEFT_OVER = unsubscribedByInstitution('the agreement had ended before');

export async function endLeftOverOrders(tx: Queryable, agreementId: number, now: number): Promise<Order[]> {
  const { orders } = await lockAgreementsWithOrders(tx, [agreementId]);
  if (await isAgreementBound(tx, agreementId)) return [];
  return endAgreements(
    tx,
    { agreementIds: [agreementId], orders: orders.values(), by: UNSUBSCRIBED_AS_LEFT_OVER },
    now,
  );
}
