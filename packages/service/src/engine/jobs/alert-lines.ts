import type { Logger } from 'pino';
import { takeAlertsToLog } from '../../platform/alerts/raise-sql.js';
import type { Queryable } from '../../platform/db/database.js';

const ALERTS_PER_STATEMENT = 100;

/**
 * A line for each alert that was raised since the last turn, by whichever node or command, in the log of one node. However
 * often it was raised meanwhile, it is one line.
 */
export async function logAlerts({
  database,
  log,
}: {
  readonly database: Queryable;
  readonly log: Logger;
}): Promise<number> {
  let logged = 0;
  for (;;) {
    const alerts = await takeAlertsToLog(database, ALERTS_PER_STATEMENT);
    for (const { kind, subject, detail, times, seen } of alerts) {
      log.warn({ kind, subject, detail, times, seen }, 'alert');
    }
    logged += alerts.length;
    if (alerts.length < ALERTS_PER_STATEMENT) return logged;
  }
}
