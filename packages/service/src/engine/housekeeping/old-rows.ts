import { IDEMPOTENCY_WINDOW_MS } from '@perennial/wire';
import { AUDIT_TEXT_DAYS } from '../../operator/audit/audit.js';
import { type Database, statement } from '../../platform/db/database.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';
import { NOTE_DAYS } from './personal-data.js';
import { keptFromSql } from './tables-by-time.js';

/** Declares a function that deletes old rows of a table in bounded steps. */
function declareDeletion(table: string, isOld: string, parameters: readonly 'integer'[] = []) {
  const deleteSome = statement({
    text: `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${isOld} limit ${ROWS_PER_STEP} for update skip locked)) returning 1`,
    parameters,
  });
  return (database: Database, ...values: readonly number[]): Promise<number> =>
    runInSteps(async () => (await database.query(deleteSome, values)).length);
}

export const deleteOldAnswers = declareDeletion(
  'idempotency',
  `created_at <= now() - interval '${IDEMPOTENCY_WINDOW_MS} ms'`,
);

/** Text messages are counted over one day. A second day allows for nodes whose clocks differ. */
export const deleteOldSmsSends = declareDeletion('sms_sends', `sent_at <= now() - interval '48 hours'`);

/** Deletes counts of calls: minutes after two days, hours after the 13 months that figures reach back. */
export const deleteOldCallCounts = declareDeletion(
  'peer_calls',
  `(grain = 'MINUTE' and at <= now() - interval '2 days' or grain = 'HOUR' and at <= now() - interval '396 days')`,
);

/** Deletes undelivered messages too: an open alert is still in the list and its next message would say the same. */
export const deleteOldAlertMessages = declareDeletion('alert_messages', `written_at <= now() - interval '30 days'`);

/** Deletes notes on orders and comments on alerts, which operators wrote. */
export const deleteOldNotes = declareDeletion('order_notes', `at <= now() - interval '${NOTE_DAYS} days'`);
export const deleteOldComments = declareDeletion('alert_comments', `at <= now() - interval '${NOTE_DAYS} days'`);

/** Deletes texts of audit entries. The entries stay. */
export const deleteOldAuditTexts = declareDeletion('audit_texts', `at <= now() - interval '${AUDIT_TEXT_DAYS} days'`);

/**
 * Deletes the rows of undelivered events at the age at which the partitions of `events` are dropped: these events
 * cannot be sent any more.
 */
export const deleteOldUndelivered = declareDeletion('undelivered_events', `recorded_at < ${keptFromSql('$1')}`, [
  'integer',
]);

const DELETE_OLD_SIGN_INS = [
  `delete from console_sessions where expires_at < now() - interval '1 day' returning 1`,
  `delete from sign_in_failures where began_at < now() - interval '1 day' and (locked_until is null or locked_until < now())
     returning 1`,
  `delete from single_sign_on_tries where began_at < now() - interval '1 hour' returning 1`,
].map((text) => statement({ text, parameters: [] }));

/** Deletes ended sessions, failed sign-ins that no longer count, and unfinished single sign-ons. */
export async function deleteOldSignIns(database: Database): Promise<number> {
  let deleted = 0;
  for (const one of DELETE_OLD_SIGN_INS) deleted += (await database.query(one)).length;
  return deleted;
}

const FORGET_FORMER_SECRETS = statement({
  text: `update channels set former_app_secret = null, former_secret_until = null where former_secret_until <= now() returning 1`,
  parameters: [],
});

/** Deletes former app secrets whose overlap is over. Nodes reject these secrets even before they are deleted. */
export const forgetFormerSecrets = async (database: Database): Promise<number> =>
  (await database.query(FORGET_FORMER_SECRETS)).length;
