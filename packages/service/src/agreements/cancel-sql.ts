import type { Queryable } from '../db/database.js';

/**
 * Ends the agreement when no other order runs on it: at once here, and at the institution in the background, which
 * `cancel_at` asks for.
 */
export async function cancelUnusedAgreement(tx: Queryable, agreementId: number, exceptOrderNo: number): Promise<void> {
  // Of two orders that end at the same time, the second looks only when the first has ended: else each would take the
  // other for alive, and the agreement would stay.
  await tx.query('select from agreements where agreement_id = $1 for update', [agreementId]);
  // An agreement is one user's, whose orders are found by an index.
  await tx.query(
    `update agreements a set status = 'CANCELED', cancel_at = now(), changed_at = now()
     where a.agreement_id = $1 and a.status = 'BIND_SUCCESS' and not exists (
       select from orders o where o.channel_id = a.channel_id and key_of(o.channel_user_id) = key_of(a.channel_user_id)
         and o.agreement_id = $1 and o.order_no <> $2 and o.status in ('ACTIVE', 'INITIALIZING'))`,
    [agreementId, exceptOrderNo],
  );
}

/** The institution has said that it is gone there: nothing is left to ask for. */
export async function cancelInvalidAgreement(tx: Queryable, agreementId: number): Promise<void> {
  await tx.query(
    `update agreements set status = 'CANCELED', changed_at = now() where agreement_id = $1 and status = 'BIND_SUCCESS'`,
    [agreementId],
  );
}

/** Held still until the transaction ends, so that whoever ends it meanwhile sees what this transaction has done. */
export async function isAgreementEnded(tx: Queryable, agreementId: number): Promise<boolean> {
  const [row] = await tx.query<{ status: string }>('select status from agreements where agreement_id = $1 for share', [
    agreementId,
  ]);
  return row?.status === 'CANCELED';
}
