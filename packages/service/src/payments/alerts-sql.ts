import type { Queryable } from '../db/database.js';

export type AlertKind =
  | 'debit-unknown-for-a-day'
  | 'debit-contradiction'
  | 'debit-wrong-amount'
  | 'notice-for-unknown-attempt'
  | 'notice-for-unknown-agreement'
  | 'agreement-cancel-failed';

/** One row per kind and subject; what happens again is counted, and has to be acknowledged again. */
export async function raiseAlert(db: Queryable, kind: AlertKind, subject: string, detail: string): Promise<void> {
  await db.query(
    `insert into alerts (kind, subject, detail) values ($1, $2, $3)
     on conflict (kind, subject) do update set detail = excluded.detail, last_seen_at = now(), seen = alerts.seen + 1,
       acknowledged_by = null, acknowledged_at = null`,
    [kind, subject, detail],
  );
}
