import { constraintOf, type Queryable, Unavailable } from '../../../platform/db/database.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import type { BindingRow } from '../../store/agreements/agreements-sql.js';
import {
  type BindingReplacement,
  countOrdersOnAgreement,
  findBindingOfCard,
  lockBindings,
  lockOrdersOnAgreement,
  moveOrdersToBinding,
  ONE_BINDING_PER_CARD,
  storeBindingReplacement,
} from '../../store/agreements/same-card-sql.js';

/** The card or its orders changed while they were being locked: begun anew, the transaction sees how. */
class CardChanged extends Error {}

export type EarlierBinding = Pick<BindingReplacement, 'oldAgreementId' | 'orderNos'>;

/**
 * The binding that a card has already, with the orders that run on it: all of it locked, and the new binding with it.
 * Orders before agreements, each by their numbers, as everybody locks them.
 */
export async function lockEarlierBinding(tx: Queryable, binding: BindingRow): Promise<EarlierBinding | undefined> {
  const oldAgreementId = await findBindingOfCard(tx, binding);
  if (oldAgreementId === undefined) return undefined;
  const orderNos = await lockOrdersOnAgreement(tx, oldAgreementId);
  const locked = await lockBindings(tx, [oldAgreementId, binding.agreementId]);
  const earlier = locked.find(({ agreementId }) => agreementId === oldAgreementId);
  // Until its lock was granted, an order could still be made on it, another binding take its place, or somebody end it. An
  // order that is found only now must not be waited for with an agreement in hand.
  const isTheSame =
    earlier?.status === 'BIND_SUCCESS' && (await countOrdersOnAgreement(tx, oldAgreementId)) === orderNos.length;
  if (!isTheSame) throw new CardChanged(`agreement ${oldAgreementId} changed while it was being locked`);
  return { oldAgreementId, orderNos };
}

/**
 * The new binding takes the earlier one's place: that is REPLACED, its orders run on the new one, and its number is
 * canceled at the institution. Before the new one is BIND_SUCCESS, since the index allows one of them at any moment.
 */
export async function replaceEarlierBinding(tx: Queryable, succession: BindingReplacement, now: number): Promise<void> {
  const step = requireAgreementTransition('BIND_SUCCESS', 'bound-again');
  await moveOrdersToBinding(tx, succession);
  await storeBindingReplacement(tx, succession, step.to, now);
}

/** Each further try means that somebody else was at the same card in that moment. */
const MAX_TRIES = 10;

/** Repeats a transaction that met somebody else at the same card. */
export async function retryWhileCardChanges<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!(error instanceof CardChanged) && constraintOf(error) !== ONE_BINDING_PER_CARD) throw error;
      if (tries === MAX_TRIES) throw new Unavailable('the card is being bound by too many at once', { cause: error });
    }
  }
}
