import type { Logger } from 'pino';
import { severityOf, takeAlertsToLog } from '../../alerts/alerts-sql.js';
import type { AlertSender } from '../../alerts/message.js';
import { resolveEndedAlerts } from '../../alerts/resolve-sql.js';
import { sendAlertMessages, writeAlertMessages } from '../../alerts/send-messages.js';
import type { AlertTransport } from '../../alerts/transport.js';
import { type Clock, systemClock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { runEvery } from '../timer.js';
import { createFullDatabaseJob } from './full-database.js';

export interface AlertingDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Undefined if alerts are shown in the list but not sent. */
  readonly alertWays?: readonly AlertTransport[];
  readonly alertSender?: () => AlertSender;
  readonly alertSeconds?: AlertSeconds;
}

/** The intervals at which jobs look for alerts to resolve, and for messages to write and send. */
export interface AlertSeconds {
  readonly resolved: number;
  readonly messages: number;
}

export const USUAL_SECONDS: AlertSeconds = { resolved: 30, messages: 5 };

/**
 * The interval of the job that watches for write failures. Every write failure lasts longer than this interval, so the
 * job notices all of them.
 */
const FULL_DATABASE_SECONDS = 2;

/**
 * Resolves alerts whose cause is gone, and sends messages. Each transport has its own job, so that a slow transport
 * does not delay the others.
 */
export function startAlerting(deps: AlertingDeps) {
  const {
    database,
    log,
    alertWays: ways = [],
    alertSender,
    clock = systemClock,
    alertSeconds: { resolved, messages } = USUAL_SECONDS,
  } = deps;
  const stopping = new AbortController();
  const sender = alertSender ?? (() => ({ environment: '', service: '' }));
  const reportFullDatabase = createFullDatabaseJob({ database, log, ways, sender, clock, signal: stopping.signal });
  const jobs = [
    runEvery(FULL_DATABASE_SECONDS, 'full database', log, reportFullDatabase),
    runEvery(resolved, 'resolved alerts', log, () => resolveEndedAlerts(database)),
    ...(ways.length === 0
      ? []
      : [
          runEvery(messages, 'alert messages', log, () => writeAlertMessages({ database, ways, sender }), {
            atOnce: true,
          }),
        ]),
    ...ways.map((way) =>
      runEvery(messages, `alerts by ${way.way.toLowerCase()}`, log, () =>
        sendAlertMessages({ database, log }, way, stopping.signal),
      ),
    ),
  ];
  return {
    async stop(): Promise<void> {
      stopping.abort();
      // Interrupts a mail that is being sent. The mail is sent again later.
      await Promise.all(ways.map((way) => way.close()));
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

const ALERTS_PER_STATEMENT = 100;

/**
 * Logs one line for each alert that any node or command has raised since the last run, however often it was raised.
 * Only one node logs each occurrence.
 */
export async function logAlerts({ database, log }: Pick<AlertingDeps, 'database' | 'log'>): Promise<number> {
  let logged = 0;
  for (;;) {
    const alerts = await takeAlertsToLog(database, ALERTS_PER_STATEMENT);
    for (const { kind, subject, detail, times, seen } of alerts) {
      log.warn({ kind, severity: severityOf(kind), subject, detail, times, seen }, 'alert');
    }
    logged += alerts.length;
    if (alerts.length < ALERTS_PER_STATEMENT) return logged;
  }
}
