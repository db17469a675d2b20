import { IDEMPOTENCY_WINDOW_MS } from '@perennial/wire';
import { type Database, statement } from '../../platform/db/database.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';
import { keptFromSql } from './tables-by-time.js';

const DELETE_OLD_ANSWERS = statement({
  text: `delete from idempotency where ctid = any(array(
         select ctid from idempotency where created_at <= now() - $1::double precision * interval '1 ms'
         limit $2 for update skip locked)) returning 1`,
  parameters: ['double precision', 'bigint'],
});

export const deleteOldAnswers = (database: Database): Promise<number> =>
  runInSteps(async () => {
    const rows = await database.query(DELETE_OLD_ANSWERS, [IDEMPOTENCY_WINDOW_MS, ROWS_PER_STEP]);
    return rows.length;
  });

const DELETE_OLD_SMS_SENDS = statement({
  text: `delete from sms_sends where ctid = any(array(
         select ctid from sms_sends where sent_at <= now() - interval '48 hours' limit $1 for update skip locked))
       returning 1`,
  parameters: ['bigint'],
});

/** Text messages are counted over a day; the second day is for nodes whose clocks differ. */
export const deleteOldSmsSends = (database: Database): Promise<number> =>
  runInSteps(async () => {
    const rows = await database.query(DELETE_OLD_SMS_SENDS, [ROWS_PER_STEP]);
    return rows.length;
  });

const DELETE_OLD_ALERT_MESSAGES = statement({
  text: `delete from alert_messages where ctid = any(array(
         select ctid from alert_messages where written_at <= now() - interval '30 days' limit $1 for update skip locked))
       returning 1`,
  parameters: ['bigint'],
});

/** Also messages that were never delivered: an open alert is in the list, and its next message would say the same. */
export const deleteOldAlertMessages = (database: Database): Promise<number> =>
  runInSteps(async () => {
    const rows = await database.query(DELETE_OLD_ALERT_MESSAGES, [ROWS_PER_STEP]);
    return rows.length;
  });

const DELETE_OLD_UNDELIVERED = statement({
  text: `delete from undelivered_events where ctid = any(array(
         select ctid from undelivered_events where recorded_at < ${keptFromSql('$1')} limit $2 for update skip locked))
       returning 1`,
  parameters: ['integer', 'bigint'],
});

/** Deleted together with the weeks of their events: without those they cannot be sent any more. */
export const deleteOldUndelivered = (database: Database, retentionDays: number): Promise<number> =>
  runInSteps(async () => {
    const rows = await database.query(DELETE_OLD_UNDELIVERED, [retentionDays, ROWS_PER_STEP]);
    return rows.length;
  });

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
