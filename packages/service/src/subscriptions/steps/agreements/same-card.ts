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

/** Thrown if the card's binding or orders changed before their rows were locked. The transaction must be retried. */
class CardChanged extends Error {}

export type EarlierBinding = Pick<BindingReplacement, 'oldAgreementId' | 'orderNos'>;

/**
 * Locks the card's earlier binding, the orders on it, and the new binding. Returns undefined if the card has no earlier
 * binding. Like every transaction, locks orders before agreements, both by ascending number.
 */
export async function lockEarlierBinding(tx: Queryable, binding: BindingRow): Promise<EarlierBinding | undefined> {
  const oldAgreementId = await findBindingOfCard(tx, binding);
  if (oldAgreementId === undefined) return undefined;
  const orderNos = await lockOrdersOnAgreement(tx, oldAgreementId);
  const locked = await lockBindings(tx, [oldAgreementId, binding.agreementId]);
  const earlier = locked.find(({ agreementId }) => agreementId === oldAgreementId);
  // Before the binding was locked, a further order may have started on it, or the binding may have ended. This
  // transaction holds an agreement's lock, so it must not wait for the lock of that order: it could deadlock.
  const isTheSame =
    earlier?.status === 'BIND_SUCCESS' && (await countOrdersOnAgreement(tx, oldAgreementId)) === orderNos.length;
  if (!isTheSame) throw new CardChanged(`agreement ${oldAgreementId} changed while it was being locked`);
  return { oldAgreementId, orderNos };
}

/**
 * Replaces the earlier binding: sets it to REPLACED, and moves its orders that have not ended to the new binding. Also
 * schedules its cancellation at the institution, but not if the new binding has the same number. Call it before the new
 * binding becomes BIND_SUCCESS, because the unique index allows only one such binding per card.
 */
export async function replaceEarlierBinding(tx: Queryable, succession: BindingReplacement, now: number): Promise<void> {
  const step = requireAgreementTransition('BIND_SUCCESS', 'bound-again');
  await moveOrdersToBinding(tx, succession);
  await storeBindingReplacement(tx, succession, step.to, now);
}

/** The maximum number of attempts. Each failed attempt means that a concurrent transaction changed the same card. */
const MAX_TRIES = 10;

/** Runs a transaction, and retries it if a concurrent transaction changed the same card. */
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
