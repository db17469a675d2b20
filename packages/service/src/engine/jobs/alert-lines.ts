import type { Logger } from 'pino';
import { takeAlertsToLog } from '../../platform/alerts/alerts-sql.js';
import type { Queryable } from '../../platform/db/database.js';

const BATCH = 100;

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
    const alerts = await takeAlertsToLog(database, BATCH);
    for (const { kind, subject, detail, times, seen } of alerts) {
      log.warn({ kind, subject, detail, times, seen }, 'alert');
    }
    logged += alerts.length;
    if (alerts.length < BATCH) return logged;
  }
}
