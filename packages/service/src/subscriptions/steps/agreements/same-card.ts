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

/** Thrown if the card or its orders changed while they were being locked. The transaction must be retried. */
class CardChanged extends Error {}

export type EarlierBinding = Pick<BindingReplacement, 'oldAgreementId' | 'orderNos'>;

/**
 * Locks the card's earlier binding, the orders on it, and the new binding. Returns undefined if the card has no other
 * binding. Locks orders before agreements, both by ascending number, as every transaction does.
 */
export async function lockEarlierBinding(tx: Queryable, binding: BindingRow): Promise<EarlierBinding | undefined> {
  const oldAgreementId = await findBindingOfCard(tx, binding);
  if (oldAgreementId === undefined) return undefined;
  const orderNos = await lockOrdersOnAgreement(tx, oldAgreementId);
  const locked = await lockBindings(tx, [oldAgreementId, binding.agreementId]);
  const earlier = locked.find(({ agreementId }) => agreementId === oldAgreementId);
  // Before the binding was locked, another order may have started on it, or it may have been replaced or ended. Waiting
  // now for the lock of such an order, with an agreement locked, could deadlock.
  const isTheSame =
    earlier?.status === 'BIND_SUCCESS' && (await countOrdersOnAgreement(tx, oldAgreementId)) === orderNos.length;
  if (!isTheSame) throw new CardChanged(`agreement ${oldAgreementId} changed while it was being locked`);
  return { oldAgreementId, orderNos };
}

/**
 * Replaces the earlier binding: sets it to REPLACED, moves its orders to the new one, and schedules its cancellation at
 * the institution. Call it before the new one becomes BIND_SUCCESS, because the unique index allows only one.
 */
export async function replaceEarlierBinding(tx: Queryable, succession: BindingReplacement, now: number): Promise<void> {
  const step = requireAgreementTransition('BIND_SUCCESS', 'bound-again');
  await moveOrdersToBinding(tx, succession);
  await storeBindingReplacement(tx, succession, step.to, now);
}

/** Each retry means that another transaction changed the same card at that moment. */
const MAX_TRIES = 10;

/** Retries a transaction while other transactions change the same card. */
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
