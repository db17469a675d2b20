import type { Logger } from 'pino';
import type { Database } from '../platform/db/database.js';
import { DEFAULT_EVENTS_RETENTION_DAYS } from '../platform/settings.js';
import { benefitExpiry } from './housekeeping/expired-benefits.js';
import { emptyStaleNonceSlot } from './housekeeping/nonces.js';
import {
  deleteOldAlertMessages,
  deleteOldAnswers,
  deleteOldSends,
  deleteOldUndelivered,
} from './housekeeping/old-rows.js';
import { patient } from './housekeeping/steps.js';
import { deleteOldStrays, gatherStrays } from './housekeeping/strays.js';
import { ATTEMPTS, dropOldWeek, EVENTS, makeWeeksAhead } from './housekeeping/weeks.js';

export interface HousekeepingDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly eventsRetentionDays?: number;
}

/**
 * Forgets what no request can ask for any more, and makes room for what is coming. Safe from many nodes: each chore is
 * harmless when done twice, and works in steps of bounded size. Tokens are not stored, so none is left over.
 */
export function housekeeping({ log, eventsRetentionDays = DEFAULT_EVENTS_RETENTION_DAYS, ...deps }: HousekeepingDeps) {
  const database = patient(deps.database);
  const chores = {
    strayEventsDeleted: () => deleteOldStrays(database, EVENTS, eventsRetentionDays),
    strayEventsGathered: () => gatherStrays(database, EVENTS),
    eventWeeksMade: () => makeWeeksAhead(database, EVENTS),
    eventWeeksDropped: () => dropOldWeek(database, EVENTS, eventsRetentionDays),
    strayAttemptsDeleted: () => deleteOldStrays(database, ATTEMPTS, eventsRetentionDays),
    strayAttemptsGathered: () => gatherStrays(database, ATTEMPTS),
    attemptWeeksMade: () => makeWeeksAhead(database, ATTEMPTS),
    attemptWeeksDropped: () => dropOldWeek(database, ATTEMPTS, eventsRetentionDays),
    undeliveredDeleted: () => deleteOldUndelivered(database, eventsRetentionDays),
    nonceSlotsEmptied: () => emptyStaleNonceSlot(database),
    answersDeleted: () => deleteOldAnswers(database),
    sendsDeleted: () => deleteOldSends(database),
    alertMessagesDeleted: () => deleteOldAlertMessages(database),
    benefitsExpired: benefitExpiry(database),
  };
  type Chore = keyof typeof chores;

  /** What was done, by chore. One that fails is logged and keeps no other from being done. */
  return async function tidy(): Promise<Partial<Record<Chore, number>>> {
    const done: Partial<Record<Chore, number>> = {};
    for (const [chore, run] of Object.entries(chores) as [Chore, () => Promise<number>][]) {
      try {
        const count = await run();
        if (count > 0) done[chore] = count;
      } catch (err) {
        const cause = `housekeeping ${chore}`;
        log.warn({ err, job: 'housekeeping', chore, cause }, 'a background job failed and will be run again');
      }
    }
    if (Object.keys(done).length > 0) log.info(done, 'housekeeping');
    return done;
  };
}
