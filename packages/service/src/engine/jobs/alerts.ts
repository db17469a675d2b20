import type { Logger } from 'pino';
import type { AlertSender } from '../../platform/alerts/message.js';
import { resolveEndedAlerts } from '../../platform/alerts/resolve-sql.js';
import { sendAlertMessages, writeAlertMessages } from '../../platform/alerts/send-messages.js';
import type { AlertTransport } from '../../platform/alerts/transport.js';
import type { Database } from '../../platform/db/database.js';
import { every } from '../timer.js';

export interface AlertingDeps {
  readonly database: Database;
  readonly log: Logger;
  /** None: alerts are in the list alone. */
  readonly alertWays?: readonly AlertTransport[];
  readonly alertSender?: () => AlertSender;
  readonly alertSeconds?: AlertSeconds;
}

/** How often is looked for alerts whose cause is gone, and for messages. */
export interface AlertSeconds {
  readonly resolved: number;
  readonly messages: number;
}

const USUAL: AlertSeconds = { resolved: 30, messages: 5 };

/** Ends alerts whose cause is gone, and tells people. Each way has a job of its own: one that hangs holds up nobody else. */
export function alerting(deps: AlertingDeps) {
  const { database, log, alertWays: ways = [], alertSender, alertSeconds: { resolved, messages } = USUAL } = deps;
  const stopping = new AbortController();
  const sender = alertSender ?? (() => ({ environment: '', service: '' }));
  const jobs = [
    every(resolved, 'resolved alerts', log, () => resolveEndedAlerts(database)),
    ...(ways.length === 0
      ? []
      : [
          every(messages, 'alert messages', log, () => writeAlertMessages({ database, ways, sender }), {
            atOnce: true,
          }),
        ]),
    ...ways.map((way) =>
      every(messages, `alerts by ${way.way.toLowerCase()}`, log, () =>
        sendAlertMessages({ database, log }, way, stopping.signal),
      ),
    ),
  ];
  return {
    async stop(): Promise<void> {
      stopping.abort();
      // A mail that is on its way is cut off too: it is due again later.
      await Promise.all(ways.map((way) => way.close()));
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}
