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

/** Agreements that may end, under their locks and those of every order on them. */
export interface LockedAgreements {
  /** By order number, in ascending order. Includes the orders that the caller asked for. */
  readonly orders: ReadonlyMap<number, Order>;
  readonly agreements: readonly NumberedAgreement[];
}

const MAX_ROUNDS = 10;

/**
 * Takes the locks that are needed to end agreements, in the order of docs/decisions/0010: first orders, including those of the
 * caller, then agreements. Locks all agreements with the same numbers, and all orders that are ACTIVE or INITIALIZING on them.
 * The caller must not have locked an order or an agreement before.
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
    // Another order has started to use a binding meanwhile. Whoever has locked it may be waiting for the agreement, so all
    // locks are released before the next round.
    await tx.query('rollback to savepoint without_locks');
  }
  throw new Error(`orders keep coming to agreements ${agreementIds}`);
}

/** The agreements of orders whose first debit is not settled: its settlement depends on them. */
export function agreementsOfFirstDebits(orders: readonly Order[]): number[] {
  return orders.flatMap(({ status, agreementId }) =>
    status === 'INITIALIZING' && agreementId !== null ? [agreementId] : [],
  );
}

/** The institution has said that the agreement has ended. */
export const unsubscribedByInstitution = (reason: string): UnsubscribedBy => ({
  source: 'AGREEMENT_INVALID',
  reason: reason.slice(0, 1024),
});

export interface AgreementEnding {
  readonly agreementIds: readonly number[];
  /** Read under their locks. Those that are ACTIVE on one of the agreements end. */
  readonly orders: Iterable<Order>;
  readonly by: UnsubscribedBy;
  /** The agreement through which the institution is told. Undefined when the institution itself said so. */
  readonly tellBy?: number;
}

/** The only place where an agreement ends while orders may run on it: they all end in the same transaction. */
export async function endAgreements(tx: Queryable, ending: AgreementEnding, now: number): Promise<Order[]> {
  const { agreementIds, orders, by, tellBy } = ending;
  await cancelAgreements(tx, agreementIds, tellBy);
  const ended = new Set(agreementIds);
  const active = [...orders].filter(
    ({ status, agreementId }) => status === 'ACTIVE' && agreementId !== null && ended.has(agreementId),
  );
  return endOrders(tx, active, by, now);
}

/** Why orders end that are ACTIVE on an agreement that is not bound. New ones no longer appear, but old data may have some. */
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
