import os from 'node:os';
import { alertText } from '../../alerts/alert-wordings.js';
import { keepAlertOpen } from '../../alerts/alerts-sql.js';
import type { Database } from '../../platform/db/database.js';
import type { ClockWatch } from '../../platform/installation/clock-watch.js';

/** The interval at which this node's clock is compared with the database's clock. */
export const CLOCK_COMPARISON_SECONDS = 5;

/** Compares the clocks. Raises an alert about this host if its clock is wrong, and keeps the alert open meanwhile. */
export async function watchClock(database: Database, clockWatch: ClockWatch): Promise<void> {
  await clockWatch.compare();
  if (!clockWatch.isWrong()) return;
  await keepAlertOpen(
    database,
    'clock-wrong',
    os.hostname(),
    alertText('clock-wrong', Math.round(clockWatch.skewSeconds())),
  );
}
