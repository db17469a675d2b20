import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import { listFailingReceivers } from '../../delivery/queue/receiver-health-sql.js';
import type { Database } from '../../platform/db/database.js';

/** Raises an alert for each channel with an address that has accepted no push for ten minutes. */
export async function watchReceivers(database: Database): Promise<void> {
  for (const { appId, url, since, failures } of await listFailingReceivers(database)) {
    await raiseAlertOnce(
      database,
      'webhook-failing',
      appId,
      alertText('webhook-failing', new URL(url).host, since, failures),
    );
  }
}
