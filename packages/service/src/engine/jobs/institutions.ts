import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import type { InstitutionHealth } from '../../gateways/institution-health.js';
import { findSilentInstitutions, storeCallsSeen } from '../../gateways/institution-health-sql.js';
import type { Database } from '../../platform/db/database.js';

/**
 * Stores which institutions have answered this node and which have not, and raises an alert for each institution that
 * answers no node.
 */
export async function watchInstitutions(database: Database, health: InstitutionHealth): Promise<number> {
  const seen = health.take();
  if (seen.size > 0) await storeCallsSeen(database, seen);
  const silent = await findSilentInstitutions(database);
  for (const { paymentChannelCode, since, failures } of silent) {
    const detail = alertText('institution-silent', since, failures);
    await raiseAlertOnce(database, 'institution-silent', paymentChannelCode, detail);
  }
  return silent.length;
}
