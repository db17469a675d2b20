import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import { findDecliningInstitutions } from '../../gateways/call-counts-sql.js';
import { findSilentInstitutions } from '../../gateways/institution-health-sql.js';
import type { Database } from '../../platform/db/database.js';

/** Raises an alert for each institution that answers no node, and for each that declines every debit. */
export async function watchInstitutions(database: Database): Promise<void> {
  for (const { paymentChannelCode, since, failures } of await findSilentInstitutions(database)) {
    const detail = alertText('institution-silent', since, failures);
    await raiseAlertOnce(database, 'institution-silent', paymentChannelCode, detail);
  }
  for (const { paymentChannelCode, since, declined } of await findDecliningInstitutions(database)) {
    const detail = alertText('institution-declining', since, declined);
    await raiseAlertOnce(database, 'institution-declining', paymentChannelCode, detail);
  }
}
