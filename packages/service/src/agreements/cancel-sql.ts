import type { Queryable } from '../db/database.js';

/**
 * Whether an order runs on the number of the agreement called `a`, but for one (an expression). Of whichever channel, or of
 * those that a condition on the agreement called `other` lets count.
 */
export const isInUse = (a: string, exceptOrderNo = 'null', counts = 'true') => `exists (
  select from agreements other join orders o on o.agreement_id = other.agreement_id
  where other.payment_channel_code = ${a}.payment_channel_code and other.institution_hash = ${a}.institution_hash
    and o.status in ('ACTIVE', 'INITIALIZING') and o.order_no is distinct from ${exceptOrderNo} and ${counts})`;

/**
 * Ends the agreement when no other order runs on it: at once here, and at the institution in the background, which
 * `cancel_at` asks for. To the institution an agreement is its number, and a channel may have shared one number with
 * several orders, each with a row of its own: what counts is the number. A channel ends its own rows of it, whatever other
 * channels do; while one of those has the number in force, the institution is not asked.
 */
export async function cancelUnusedAgreement(tx: Queryable, agreementId: number, exceptOrderNo: number): Promise<void> {
  // Of two orders that end at the same time, the second looks only when the first has ended: else each would take the
  // other for alive, and the agreement would stay.
  await tx.query(
    `select from agreements g join agreements a on a.agreement_id = $1
       and g.payment_channel_code = a.payment_channel_code and g.institution_hash = a.institution_hash
     order by g.agreement_id for update of g`,
    [agreementId],
  );
  await tx.query(
    `update agreements g set status = 'CANCELED', changed_at = now(),
       cancel_at = case when g.agreement_id = $1
         and not is_number_of_another_channel(a.payment_channel_code, a.institution_hash, a.channel_id)
         then now() end
     from agreements a
     where a.agreement_id = $1 and g.payment_channel_code = a.payment_channel_code
       and g.institution_hash = a.institution_hash and g.channel_id = a.channel_id and g.status = 'BIND_SUCCESS'
       and not ${isInUse('a', '$2', 'other.channel_id = a.channel_id')}`,
    [agreementId, exceptOrderNo],
  );
}
