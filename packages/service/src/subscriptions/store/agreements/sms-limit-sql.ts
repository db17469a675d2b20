import { columns, declareRequire, declareWrite, type Queryable, statement } from '../../../platform/db/database.js';
import { fromEpochMs } from '../../../platform/db/time-sql.js';

const LOCK_BANK_MOBILE = statement({
  text: 'select pg_advisory_xact_lock($1)',
  parameters: ['bigint'],
});

/** Locks a phone number, so that requests for it run in turn. 64 bits of its keyed hash suffice as lock key. */
export async function lockBankMobile(tx: Queryable, hash: Buffer): Promise<void> {
  await tx.query(LOCK_BANK_MOBILE, [hash.readBigInt64BE(0).toString()]);
}

/**
 * Counts the codes sent to a phone after the time `pause`, and after the time `day`. The first count ignores sends
 * after `latest`: they were stored before a clock was set back.
 */
export const countSmsSends = declareRequire({
  text: `select count(*) filter (where sent_at > ${fromEpochMs('$2')} and sent_at <= ${fromEpochMs('$4')}) as pause, count(*) as day
     from sms_sends where bank_mobile_hash = $1 and sent_at > ${fromEpochMs('$3')}`,
  parameters: { hash: 'bytea', pause: 'double precision', day: 'double precision', latest: 'double precision' },
  columns: columns({ pause: 'bigint', day: 'bigint' }),
});

export const insertSmsSend = declareWrite({
  text: `insert into sms_sends (bank_mobile_hash, sent_at) values ($1, ${fromEpochMs('$2')})`,
  parameters: ['bytea', 'double precision'],
});

/** Deletes a single send, even if two sends have the same time. */
export const deleteSmsSend = declareWrite({
  text: `delete from sms_sends where ctid = (
       select ctid from sms_sends where bank_mobile_hash = $1 and sent_at = ${fromEpochMs('$2')} limit 1 for update)`,
  parameters: ['bytea', 'double precision'],
});
