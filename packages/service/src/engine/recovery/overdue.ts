import { type AlertKind, raiseAlertOnce } from '../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { ALERT_AFTER_MS } from '../../subscriptions/domain/payments/policy.js';

/** Raises an alert about what began a day ago and has no end. Once: an operator who has seen it need not see it every hour. */
export async function alertIfOverdue(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  kind: AlertKind,
  one: { readonly number: string; readonly since: number },
  detail: string,
): Promise<void> {
  if (clock.now() - one.since > ALERT_AFTER_MS) await raiseAlertOnce(database, kind, one.number, detail);
}
