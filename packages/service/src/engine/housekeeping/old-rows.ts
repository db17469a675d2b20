import { IDEMPOTENCY_WINDOW_MS } from '@perennial/wire';
import { type Database, statement } from '../../platform/db/database.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';
import { keptFromSql } from './tables-by-time.js';

/** Deletes rows of a table that are old by a condition, step by step. */
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

/** Text messages are counted over a day; the second day is for nodes whose clocks differ. */
export const deleteOldSmsSends = declareDeletion('sms_sends', `sent_at <= now() - interval '48 hours'`);

/** Also messages that were never delivered: an open alert is in the list, and its next message would say the same. */
export const deleteOldAlertMessages = declareDeletion('alert_messages', `written_at <= now() - interval '30 days'`);

/** After so many days, together with the weeks of their events: without those they cannot be sent any more. */
export const deleteOldUndelivered = declareDeletion('undelivered_events', `recorded_at < ${keptFromSql('$1')}`, [
  'integer',
]);

const DELETE_OLD_SIGN_INS = [
  `delete from console_sessions where expires_at < now() - interval '1 day' returning 1`,
  `delete from sign_in_failures where began_at < now() - interval '1 day' and (locked_until is null or locked_until < now())
     returning 1`,
  `delete from single_sign_on_tries where began_at < now() - interval '1 hour' returning 1`,
].map((text) => statement({ text, parameters: [] }));

/** Sessions that have ended, wrong tries that are forgotten, and sign-ins that were not brought to an end. */
export async function deleteOldSignIns(database: Database): Promise<number> {
  let deleted = 0;
  for (const one of DELETE_OLD_SIGN_INS) deleted += (await database.query(one)).length;
  return deleted;
}

const FORGET_FORMER_SECRETS = statement({
  text: `update channels set former_app_secret = null, former_secret_until = null where former_secret_until <= now() returning 1`,
  parameters: [],
});

/** App secrets that were rolled with an overlap which is over. Nodes take them no longer, whether they are here or not. */
export const forgetFormerSecrets = async (database: Database): Promise<number> =>
  (await database.query(FORGET_FORMER_SECRETS)).length;
