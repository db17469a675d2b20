import { randomUUID } from 'node:crypto';
import { formatTime } from '@perennial/wire';
import type { Logger } from 'pino';
import { alertText } from '../../alerts/alert-wordings.js';
import { keepAlertOpen } from '../../alerts/alerts-sql.js';
import { type AlertSender, createAlertMessage } from '../../alerts/message.js';
import { AlertNotTaken, type AlertTransport } from '../../alerts/transport.js';
import type { Clock } from '../../platform/clock.js';
import { type Database, isDatabaseAway, sqlState, type Unavailable } from '../../platform/db/database.js';

export interface FullDatabaseDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly ways: readonly AlertTransport[];
  readonly sender: () => AlertSender;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The alert's subject. All nodes use the same subject, so that the installation has one alert. */
const SUBJECT = 'database';

/**
 * Raises the alert that the database cannot write, and keeps it open while this node sees write failures. A full
 * database may refuse the alert too. The alert is then sent from memory, and stored later.
 */
export function createFullDatabaseJob({ database, log, ways, sender, clock, signal }: FullDatabaseDeps) {
  /** The write failure that continues, or whose alert is not stored yet. */
  let current: { readonly failure: Unavailable; readonly sent: Set<AlertTransport>; isStored: boolean } | undefined;
  return async function reportFullDatabase(): Promise<void> {
    const failure = database.writeFailure();
    if (!failure && current?.isStored) current = undefined;
    if (failure) current ??= { failure, sent: new Set(), isStored: false };
    if (!current) return;
    const detail = alertText('database-full', sqlState(current.failure) ?? '');
    try {
      await keepAlertOpen(database, 'database-full', SUBJECT, detail);
      current.isStored = true;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (!current.isStored) await sendFromMemory(detail, current.sent);
    }
  };

  async function sendFromMemory(detail: string, sent: Set<AlertTransport>): Promise<void> {
    const now = formatTime(clock.now());
    const alert = { subject: SUBJECT, detail, seen: 1, firstSeenAt: now, lastSeenAt: now, resolvedBecause: null };
    const message = createAlertMessage({ kind: 'database-full', what: 'OPEN', count: 1, alerts: [alert] }, sender());
    for (const way of ways.filter((one) => !sent.has(one))) {
      try {
        await way.send(randomUUID(), message, signal);
        sent.add(way);
      } catch (error) {
        if (!(error instanceof AlertNotTaken)) throw error;
        log.warn(
          { way: way.way, why: error.message, cause: `alert by ${way.way}` },
          'an alert could not be delivered; it will be sent again',
        );
      }
    }
  }
}
