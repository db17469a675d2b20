import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { agreementStatusIs, orderStatusIs, statusLiteral } from '../statuses-sql.js';
import { lockNumberForEndingSql, sameNumberSql } from './institution-number-sql.js';

const CANCELED = requireAgreementTransition('BIND_SUCCESS', 'canceled').to;

/**
 * Whether an order runs on the number of the agreement called `a`, but for one (an expression). Of whichever channel, or of
 * those that a condition on the agreement called `other` lets count. Nothing runs on an agreement that has released its number.
 */
export const numberInUseSql = (a: string, exceptOrderNo = 'null', counts = 'true') => `exists (
  select from agreements other join orders o on o.agreement_id = any(array[other.agreement_id])
  where ${sameNumberSql('other', a)} and ${agreementStatusIs('other.status', 'BIND_SUCCESS')} and not other.number_released
    and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)} and o.order_no is distinct from ${exceptOrderNo} and ${counts})`;

/** By another order of the channel: what other channels do with the number does not keep one from ending its own rows. */
const IN_USE_BY_CHANNEL = numberInUseSql('a', '$2', 'other.channel_id = any(array[a.channel_id])');

/** The rows of the number that end with the agreement called `a`: those of its channel. */
const ROWS_OF_NUMBER_IN_CHANNEL = `${sameNumberSql('g', 'a')} and ${agreementStatusIs('g.status', 'BIND_SUCCESS')} and g.number_released in (false, true)
  and g.channel_id = any(array[a.channel_id])`;

const LOCK_NUMBER_FOR_ENDING = statement({
  text: `select ${lockNumberForEndingSql(`encode(a.institution_hash, 'hex')`)} from agreements a where agreement_id = $1`,
  parameters: ['bigint'],
});

const IS_NUMBER_IN_USE = statement({
  text: `select ${IN_USE_BY_CHANNEL} as "isInUse" from agreements a where a.agreement_id = $1`,
  parameters: ['bigint', 'bigint'],
  columns: columns<{ isInUse: boolean }>({ isInUse: 'boolean' }),
});

const LOCK_ROWS_OF_NUMBER = statement({
  text: `select from agreements g join agreements a on a.agreement_id = $1 and ${ROWS_OF_NUMBER_IN_CHANNEL} order by g.agreement_id for update of g`,
  parameters: ['bigint'],
});

const CANCEL_UNUSED = statement({
  text: `update agreements g set status = ${statusLiteral(CANCELED)}, changed_at = now(),
       cancel_at = case when g.agreement_id = $1
         and not is_number_of_another_channel(a.payment_channel_code, a.institution_hash, a.channel_id)
         then now() end
     from agreements a where a.agreement_id = $1 and ${ROWS_OF_NUMBER_IN_CHANNEL} and not ${IN_USE_BY_CHANNEL} returning 1`,
  parameters: ['bigint', 'bigint'],
});

/**
 * Ends the agreement when no other order runs on it: at once here, and at the institution in the background, which
 * `cancel_at` asks for. To the institution an agreement is its number, and a channel may have shared one number with
 * several orders, each with a row of its own: what counts is the number. A channel ends its own rows of it, whatever other
 * channels do; while one of those has the number in force, the institution is not asked. What other rows a number has costs
 * nothing here.
 */
export async function cancelUnusedAgreement(tx: Queryable, agreementId: number, exceptOrderNo: number): Promise<void> {
  // Of two orders that end at the same time, the second looks only when the first has ended: else each would take the
  // other for alive, and the agreement would stay.
  await tx.query(LOCK_NUMBER_FOR_ENDING, [agreementId]);
  const [row] = await tx.query(IS_NUMBER_IN_USE, [agreementId, exceptOrderNo]);
  if (row?.isInUse) return releaseNumbers(tx, [agreementId]);
  // An order can come to run on a binding until that is locked, so it is looked for once more after that.
  await tx.query(LOCK_ROWS_OF_NUMBER, [agreementId]);
  const ended = await tx.query(CANCEL_UNUSED, [agreementId, exceptOrderNo]);
  if (ended.length === 0) await releaseNumbers(tx, [agreementId]);
}

const RELEASE_NUMBERS = statement({
  text: `update agreements set number_released = true
     where agreement_id = any($1::bigint[]) and source = 'SHARED_FROM_CHANNEL' and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint[]'],
});

/**
 * Of shared agreements whose order has ended otherwise than by running to its end: the number is not the channel's because of
 * them any more. A binding has its number whatever runs on it. Of several, the caller has their locks.
 */
export async function releaseNumbers(tx: Queryable, agreementIds: readonly number[]): Promise<void> {
  await tx.query(RELEASE_NUMBERS, [agreementIds]);
}
