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
  /** Also those that the caller asked for. By number, in that order. */
  readonly orders: ReadonlyMap<number, Order>;
  readonly agreements: readonly NumberedAgreement[];
}

const MAX_ROUNDS = 10;

/**
 * Takes the locks under which agreements end, in the order in which everybody takes them (docs/decisions/0010): orders, those
 * of the caller among them, then agreements. All rows of the agreements' numbers are held, and all orders that are ACTIVE or
 * INITIALIZING on them. The caller has no lock on an order or an agreement before.
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
    // An order has come to run on a binding since. Waiting for it now, whoever holds it may wait for the agreement.
    await tx.query('rollback to savepoint without_locks');
  }
  throw new Error(`orders keep coming to agreements ${agreementIds}`);
}

/** What a first debit's settlement depends on, besides its order. */
export function agreementsOfFirstDebits(orders: readonly Order[]): number[] {
  return orders.flatMap(({ status, agreementId }) =>
    status === 'INITIALIZING' && agreementId !== null ? [agreementId] : [],
  );
}

/** The institution's own word. */
export const unsubscribedByInstitution = (reason: string): UnsubscribedBy => ({
  source: 'AGREEMENT_INVALID',
  reason: reason.slice(0, 1024),
});

export interface AgreementEnding {
  readonly agreementIds: readonly number[];
  /** As they are under their locks: those that are ACTIVE on one of the agreements end. */
  readonly orders: Iterable<Order>;
  readonly by: UnsubscribedBy;
  /** The agreement by way of which the institution is told. None when it was the institution that said so. */
  readonly tellBy?: number;
}

/** The one place where an agreement ends while orders may run on it: all of them end with it, in the caller's transaction. */
export async function endAgreements(tx: Queryable, ending: AgreementEnding, now: number): Promise<Order[]> {
  const { agreementIds, orders, by, tellBy } = ending;
  await cancelAgreements(tx, agreementIds, tellBy);
  const ended = new Set(agreementIds);
  const active = [...orders].filter(
    ({ status, agreementId }) => status === 'ACTIVE' && agreementId !== null && ended.has(agreementId),
  );
  return endOrders(tx, active, by, now);
}

/** Why orders end that were found ACTIVE on an agreement that is not bound: none come to that any more, but some had. */
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
