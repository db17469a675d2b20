import { columns, declareWrite, type Queryable, statement } from '../../../platform/db/database.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { agreementStatusIs, orderStatusIs, statusLiteral } from '../statuses-sql.js';
import { lockNumberForEndingSql, sameNumberSql } from './same-number-sql.js';

const CANCELED = requireAgreementTransition('BIND_SUCCESS', 'canceled').to;

/**
 * SQL: true if an order uses the institution number of the agreement named `a`. `exceptOrderNo` is an order to ignore.
 * Agreements with that number are named `other`: `counts` is a condition on `other` that decides which of them count.
 * An agreement that has released its number does not count.
 */
export const numberInUseSql = (a: string, exceptOrderNo = 'null', counts = 'true') => `exists (
  select from agreements other join orders o on o.agreement_id = any(array[other.agreement_id])
  where ${sameNumberSql('other', a)} and ${agreementStatusIs('other.status', 'BIND_SUCCESS')} and not other.number_released
    and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)} and o.order_no is distinct from ${exceptOrderNo} and ${counts})`;

/**
 * SQL: true if a different order of the same channel uses the agreement's institution number. Orders of other channels
 * do not count.
 */
const IN_USE_BY_CHANNEL = numberInUseSql('a', '$2', 'other.channel_id = any(array[a.channel_id])');

/**
 * SQL: selects the rows `g` that must end together with the agreement named `a`: the channel's bound rows with the same
 * number.
 */
const ROWS_OF_NUMBER_IN_CHANNEL = `${sameNumberSql('g', 'a')} and ${agreementStatusIs('g.status', 'BIND_SUCCESS')} and g.number_released in (false, true)
  and g.channel_id = any(array[a.channel_id])`;

const LOCK_NUMBER_FOR_ENDING = statement({
  text: `select ${lockNumberForEndingSql(`encode(a.institution_hash, 'hex')`)} from agreements a where agreement_id = $1`,
  parameters: ['bigint'],
});

const IS_NUMBER_IN_USE = statement({
  text: `select ${IN_USE_BY_CHANNEL} as "isInUse" from agreements a where a.agreement_id = $1`,
  parameters: ['bigint', 'bigint'],
  columns: columns({ isInUse: 'boolean' }),
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
 * Ends the agreement if no other order uses it: immediately in the database, and at the institution in the background,
 * when `cancel_at` is due. A channel may have shared one institution number for several orders. The institution knows
 * only the number, so all rows of the channel with this number count, and end together. The institution is not notified
 * while a different channel still uses the number.
 */
export async function cancelUnusedAgreement(tx: Queryable, agreementId: number, exceptOrderNo: number): Promise<void> {
  // If two orders end concurrently, the second waits here for the first. Otherwise each would find the other still
  // running, and neither would end the agreement.
  await tx.query(LOCK_NUMBER_FOR_ENDING, [agreementId]);
  const [row] = await tx.query(IS_NUMBER_IN_USE, [agreementId, exceptOrderNo]);
  if (row?.isInUse) return releaseNumbers(tx, [agreementId]);
  // Until the rows are locked, a new order may start on them, so CANCEL_UNUSED checks again under the lock.
  await tx.query(LOCK_ROWS_OF_NUMBER, [agreementId]);
  const ended = await tx.query(CANCEL_UNUSED, [agreementId, exceptOrderNo]);
  if (ended.length === 0) await releaseNumbers(tx, [agreementId]);
}

/**
 * Releases the institution numbers of shared agreements whose order was unsubscribed or terminated, so that other
 * channels can use them. A binding keeps its number even without orders. The caller must have locked the agreements if
 * there are several.
 */
export const releaseNumbers = declareWrite({
  text: `update agreements set number_released = true
     where agreement_id = any($1::bigint[]) and source = 'SHARED_FROM_CHANNEL' and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint[]'],
});
