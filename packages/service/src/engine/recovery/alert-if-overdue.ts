import { type AlertKind, raiseAlertOnce } from '../../alerts/alerts-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { UNKNOWN_ALERT_AFTER_MS } from '../../subscriptions/domain/payments/debit-policy.js';

/**
 * Raises an alert if a debit, refund or claim began more than a day ago and has no outcome. Does not repeat an alert
 * that is not resolved.
 */
export async function alertIfOverdue(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  kind: AlertKind,
  one: { readonly number: string; readonly since: number },
  detail: string,
): Promise<void> {
  if (clock.now() - one.since > UNKNOWN_ALERT_AFTER_MS) await raiseAlertOnce(database, kind, one.number, detail);
}
