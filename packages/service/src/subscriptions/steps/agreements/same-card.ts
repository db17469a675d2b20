import { HeldUp, type Queryable, violatedConstraint } from '../../../platform/db/database.js';
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

/** The card or its orders changed while they were being locked: the transaction must be run again. */
class CardChanged extends Error {}

export type EarlierBinding = Pick<BindingReplacement, 'oldAgreementId' | 'orderNos'>;

/**
 * Locks the binding that a card has already, the orders that run on it, and the new binding. Undefined when the card has no
 * other binding. Orders are locked before agreements, both in the order of their numbers, as in every transaction.
 */
export async function lockEarlierBinding(tx: Queryable, binding: BindingRow): Promise<EarlierBinding | undefined> {
  const oldAgreementId = await findBindingOfCard(tx, binding);
  if (oldAgreementId === undefined) return undefined;
  const orderNos = await lockOrdersOnAgreement(tx, oldAgreementId);
  const locked = await lockBindings(tx, [oldAgreementId, binding.agreementId]);
  const earlier = locked.find(({ agreementId }) => agreementId === oldAgreementId);
  // Before the binding was locked, another order may have started on it, another binding may have replaced it, or it may have
  // ended. Waiting for the lock of such an order now, with an agreement locked, could be a deadlock.
  const isTheSame =
    earlier?.status === 'BIND_SUCCESS' && (await countOrdersOnAgreement(tx, oldAgreementId)) === orderNos.length;
  if (!isTheSame) throw new CardChanged(`agreement ${oldAgreementId} changed while it was being locked`);
  return { oldAgreementId, orderNos };
}

/**
 * The new binding replaces the earlier one: that becomes REPLACED, its orders move to the new one, and its number is canceled
 * at the institution. To be done before the new one becomes BIND_SUCCESS, since the index allows only one of them at any
 * time.
 */
export async function replaceEarlierBinding(tx: Queryable, succession: BindingReplacement, now: number): Promise<void> {
  const step = requireAgreementTransition('BIND_SUCCESS', 'bound-again');
  await moveOrdersToBinding(tx, succession);
  await storeBindingReplacement(tx, succession, step.to, now);
}

/** Each further try means that another transaction changed the same card at that moment. */
const MAX_TRIES = 10;

/** Repeats a transaction while other transactions change the same card. */
export async function retryWhileCardChanges<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!(error instanceof CardChanged) && violatedConstraint(error) !== ONE_BINDING_PER_CARD) throw error;
      if (tries === MAX_TRIES) throw new HeldUp('the card is being bound by too many at once', { cause: error });
    }
  }
}
