import { type Queryable, Unavailable, violatedConstraint } from '../../../platform/db/database.js';
import { agreementStep } from '../../domain/agreements/states.js';
import {
  countOrdersOn,
  findBindingOfCard,
  lockAgreements,
  lockOrdersOn,
  moveOrders,
  ONE_PER_CARD,
  type Succession,
  storeSuccession,
} from '../../store/agreements/same-card-sql.js';
import type { BindingRow } from '../../store/agreements/sql.js';

/** The card or its orders changed while they were being locked: begun anew, the transaction sees how. */
class CardChanged extends Error {}

export type EarlierBinding = Pick<Succession, 'fromId' | 'orders'>;

/**
 * The binding that a card has already, with the orders that run on it: all of it locked, and the new binding with it.
 * Orders before agreements, each by their numbers, as everybody locks them.
 */
export async function lockEarlierBinding(tx: Queryable, binding: BindingRow): Promise<EarlierBinding | undefined> {
  const fromId = await findBindingOfCard(tx, binding);
  if (fromId === undefined) return undefined;
  const orders = await lockOrdersOn(tx, fromId);
  const locked = await lockAgreements(tx, [fromId, binding.agreementId]);
  const earlier = locked.find(({ agreementId }) => agreementId === fromId);
  // Until its lock was granted, an order could still be made on it, another binding take its place, or somebody end it. An
  // order that is found only now must not be waited for with an agreement in hand.
  const isTheSame = earlier?.status === 'BIND_SUCCESS' && (await countOrdersOn(tx, fromId)) === orders.length;
  if (!isTheSame) throw new CardChanged(`agreement ${fromId} changed while it was being locked`);
  return { fromId, orders };
}

/**
 * The new binding takes the earlier one's place: that is REPLACED, its orders run on the new one, and its number is
 * canceled at the institution. Before the new one is BIND_SUCCESS, since the index allows one of them at any moment.
 */
export async function replaceEarlierBinding(tx: Queryable, succession: Succession, now: number): Promise<void> {
  const step = agreementStep('BIND_SUCCESS', 'bound-again');
  await moveOrders(tx, succession);
  await storeSuccession(tx, succession, step.to, now);
}

/** Each further try means that somebody else was at the same card in that moment. */
const MOST_TRIES = 10;

/** Repeats a transaction that met somebody else at the same card. */
export async function untilCardIsFree<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!(error instanceof CardChanged) && violatedConstraint(error) !== ONE_PER_CARD) throw error;
      if (tries === MOST_TRIES) throw new Unavailable('the card is being bound by too many at once', { cause: error });
    }
  }
}
