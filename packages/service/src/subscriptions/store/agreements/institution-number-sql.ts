import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { agreementStatusIs } from '../statuses-sql.js';

/** What an institution calls an agreement: the number itself is nowhere in the clear. */
export interface NumberAtInstitution {
  readonly paymentChannelCode: string;
  readonly institutionHash: Buffer;
}

/**
 * The rows of the number of an agreement, each called as given. `= any(array[…])` can only be looked up row by row, and no plan
 * made for few rows reads them all.
 */
export const sameNumberSql = (
  other: string,
  a: string,
) => `${other}.payment_channel_code = any(array[${a}.payment_channel_code])
  and ${other}.institution_hash = any(array[${a}.institution_hash])`;

/** A call that waits for the lock of a number, given by its hash in hex (an expression), and has it until the transaction ends. */
export const lockNumberForSharingSql = (hash: string) => `pg_advisory_xact_lock(hashtextextended(${hash}, 0))`;

/**
 * The same for whoever ends agreements of a number, taken after orders and before agreements. Another lock than the one for
 * sharing: who shares a number may have agreements in hand while it waits for that.
 */
export const lockNumberForEndingSql = (hash: string) => `pg_advisory_xact_lock(hashtextextended(${hash}, 1))`;

const LOCK_NUMBER_FOR_SHARING = statement({
  text: `select ${lockNumberForSharingSql(`encode($1::bytea, 'hex')`)}`,
  parameters: ['bytea'],
});

const IS_NUMBER_OF_ANOTHER_CHANNEL = statement({
  text: 'select is_number_of_another_channel($1, $2, $3) as foreign',
  parameters: ['text', 'bytea', 'bigint'],
  columns: columns<{ foreign: boolean }>({ foreign: 'boolean' }),
});

/** The number is locked then: of two channels that share it at once, the second sees the first. */
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
  columns: columns<{ agreementNo: string; appId: string }>({ agreementNo: 'text', appId: 'text' }),
});

/** One of the agreements for which the number is another channel's: as in is_number_of_another_channel, found by two look-ups. */
export async function findAgreementOfAnotherChannel(
  db: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<{ readonly agreementNo: string; readonly appId: string } | undefined> {
  const [row] = await db.query(FIND_AGREEMENT_OF_ANOTHER_CHANNEL, [paymentChannelCode, institutionHash, channelId]);
  return row;
}
