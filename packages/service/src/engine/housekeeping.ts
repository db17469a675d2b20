import type { Logger } from 'pino';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import { FORGET_LAPSED_CHANGES } from '../operator/approvals/approvals-sql.js';
import type { Database } from '../platform/db/database.js';
import { DEFAULT_AGREEMENT_DATA_DAYS, DEFAULT_EVENTS_RETENTION_DAYS, type Environment } from '../platform/settings.js';
import { createPatientDatabase } from './housekeeping/bounded-steps.js';
import { createCodeHashing } from './housekeeping/code-hashes.js';
import { createBenefitExpiry } from './housekeeping/expired-benefits.js';
import { emptyStaleNonceSlot } from './housekeeping/nonces.js';
import {
  deleteOldAlertMessages,
  deleteOldAnswers,
  deleteOldAuditTexts,
  deleteOldCallCounts,
  deleteOldComments,
  deleteOldNotes,
  deleteOldSignIns,
  deleteOldSmsSends,
  deleteOldUndelivered,
  forgetFormerSecrets,
} from './housekeeping/old-rows.js';
import { createAgreementMasking, createUserDeletion } from './housekeeping/personal-data.js';
import { deleteOldStrays, gatherStrays } from './housekeeping/stray-rows.js';
import {
  DELIVERY_ATTEMPTS_TABLE,
  dropOldPartition,
  EVENTS_TABLE,
  makePartitionsAhead,
  REQUEST_LOG_TABLE,
} from './housekeeping/tables-by-time.js';

/** How long the log of the channels' requests is kept. */
export const REQUEST_LOG_DAYS = 7;

export interface HousekeepingDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly eventsRetentionDays?: number;
  readonly agreementDataDays?: number;
  /** Unset: the details of ended agreements are not masked. */
  readonly channels?: ChannelRegistry;
  /** A sandbox keeps former app secrets, so that it can report that a channel still signs with one of them. */
  readonly environment?: Environment;
}

/**
 * Deletes or masks data that is past its retention, and creates partitions for the coming weeks and days. Several nodes
 * can run it at once: repeating a chore does no harm, and most chores work in bounded steps. Access tokens are not
 * stored, so there are none to delete.
 */
export function createHousekeeping({
  log,
  eventsRetentionDays = DEFAULT_EVENTS_RETENTION_DAYS,
  agreementDataDays = DEFAULT_AGREEMENT_DATA_DAYS,
  channels,
  environment,
  ...deps
}: HousekeepingDeps) {
  const database = createPatientDatabase(deps.database);
  const chores = {
    strayEventsDeleted: () => deleteOldStrays(database, EVENTS_TABLE, eventsRetentionDays),
    strayEventsGathered: () => gatherStrays(database, EVENTS_TABLE),
    eventWeeksMade: () => makePartitionsAhead(database, EVENTS_TABLE),
    eventWeeksDropped: () => dropOldPartition(database, EVENTS_TABLE, eventsRetentionDays),
    strayAttemptsDeleted: () => deleteOldStrays(database, DELIVERY_ATTEMPTS_TABLE, eventsRetentionDays),
    strayAttemptsGathered: () => gatherStrays(database, DELIVERY_ATTEMPTS_TABLE),
    attemptWeeksMade: () => makePartitionsAhead(database, DELIVERY_ATTEMPTS_TABLE),
    attemptWeeksDropped: () => dropOldPartition(database, DELIVERY_ATTEMPTS_TABLE, eventsRetentionDays),
    strayRequestsDeleted: () => deleteOldStrays(database, REQUEST_LOG_TABLE, REQUEST_LOG_DAYS),
    strayRequestsGathered: () => gatherStrays(database, REQUEST_LOG_TABLE),
    requestDaysMade: () => makePartitionsAhead(database, REQUEST_LOG_TABLE),
    requestDaysDropped: () => dropOldPartition(database, REQUEST_LOG_TABLE, REQUEST_LOG_DAYS),
    undeliveredDeleted: () => deleteOldUndelivered(database, eventsRetentionDays),
    nonceSlotsEmptied: () => emptyStaleNonceSlot(database),
    answersDeleted: () => deleteOldAnswers(database),
    sendsDeleted: () => deleteOldSmsSends(database),
    callCountsDeleted: () => deleteOldCallCounts(database),
    signInsDeleted: () => deleteOldSignIns(database),
    alertMessagesDeleted: () => deleteOldAlertMessages(database),
    formerSecretsForgotten: async () => (environment === 'sandbox' ? 0 : forgetFormerSecrets(database)),
    benefitsExpired: createBenefitExpiry(database),
    notesDeleted: () => deleteOldNotes(database),
    commentsDeleted: () => deleteOldComments(database),
    auditTextsDeleted: () => deleteOldAuditTexts(database),
    lapsedChangesForgotten: async () => (await database.query(FORGET_LAPSED_CHANGES)).length,
    agreementsMasked: channels ? createAgreementMasking(database, channels, agreementDataDays) : async () => 0,
    usersDeleted: createUserDeletion(database),
    codesHashed: channels ? createCodeHashing(database, channels) : async () => 0,
  };
  type Chore = keyof typeof chores;

  /** Runs all chores and returns the counts above 0. Logs a chore that fails and continues with the others. */
  return async function runChores(): Promise<Partial<Record<Chore, number>>> {
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
