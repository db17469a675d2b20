import { columns, type Queryable, queryOne, statement } from '../../../platform/db/database.js';
import { agreementStatusIs } from '../statuses-sql.js';

/** An agreement's number at an institution. It is given as a hash, because it is never stored in plain text. */
export interface NumberAtInstitution {
  readonly paymentChannelCode: string;
  readonly institutionHash: Buffer;
}

/**
 * SQL: true if the agreements named `other` and `a` have the same number at the institution. `= any(array[…])` makes
 * PostgreSQL look rows up one by one. Otherwise it could keep a plan made for a small table, and read the whole table.
 */
export const sameNumberSql = (
  other: string,
  a: string,
) => `${other}.payment_channel_code = any(array[${a}.payment_channel_code])
  and ${other}.institution_hash = any(array[${a}.institution_hash])`;

/**
 * SQL: locks an institution number for sharing until the transaction ends. `hash` is SQL for the number's hash in hex.
 */
export const lockNumberForSharingSql = (hash: string) => `pg_advisory_xact_lock(hashtextextended(${hash}, 0))`;

/**
 * SQL: locks an institution number for ending its agreements. This lock is taken after the orders' locks and before the
 * agreements' locks. It differs from the lock for sharing, because a transaction that waits for the lock for sharing
 * may already have locked agreements.
 */
export const lockNumberForEndingSql = (hash: string) => `pg_advisory_xact_lock(hashtextextended(${hash}, 1))`;

const LOCK_NUMBER_FOR_SHARING = statement({
  text: `select ${lockNumberForSharingSql(`encode($1::bytea, 'hex')`)}`,
  parameters: ['bytea'],
});

const IS_NUMBER_OF_ANOTHER_CHANNEL = statement({
  text: 'select is_number_of_another_channel($1, $2, $3) as foreign',
  parameters: ['text', 'bytea', 'bigint'],
  columns: columns({ foreign: 'boolean' }),
});

/**
 * Locks the institution number, so that concurrent requests of different channels run one after another. Returns true
 * if no other channel uses the number.
 */
export async function lockNumberAndCheckShareable(
  tx: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<boolean> {
  await tx.query(LOCK_NUMBER_FOR_SHARING, [institutionHash]);
  const [row] = await tx.query(IS_NUMBER_OF_ANOTHER_CHANNEL, [paymentChannelCode, institutionHash, channelId]);
  return row?.foreign === false;
}

const agreementOfOtherChannelsSql = (side: '<' | '>') => `(
  select a.agreement_no as "agreementNo", (select c.app_id from channels c where c.channel_id = a.channel_id) as "appId"
  from agreements a where a.payment_channel_code = $1 and a.institution_hash = $2 and ${agreementStatusIs('a.status', 'BIND_SUCCESS')}
    and not a.number_released and a.channel_id ${side} $3
  limit 1)`;

const FIND_AGREEMENT_OF_ANOTHER_CHANNEL = statement({
  text: `${agreementOfOtherChannelsSql('<')} union all ${agreementOfOtherChannelsSql('>')} limit 1`,
  parameters: ['text', 'bytea', 'bigint'],
  columns: columns({ agreementNo: 'text', appId: 'text' }),
});

/**
 * Finds an agreement that is in force, belongs to a different channel and has this number. Uses the same two look-ups
 * as the SQL function is_number_of_another_channel.
 */
export async function findAgreementOfAnotherChannel(
  db: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<{ readonly agreementNo: string; readonly appId: string } | undefined> {
  return queryOne(db, FIND_AGREEMENT_OF_ANOTHER_CHANNEL, [paymentChannelCode, institutionHash, channelId]);
}
