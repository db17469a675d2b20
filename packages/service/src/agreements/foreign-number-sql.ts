import type { Queryable } from '../db/database.js';

/** What an institution calls an agreement: the number itself is nowhere in the clear. */
export interface NumberAtInstitution {
  readonly paymentChannelCode: string;
  readonly institutionHash: Buffer;
}

/** A call that waits for the lock of a number, given by its hash in hex (an expression), and has it until the transaction ends. */
export const lockNumber = (hash: string) => `pg_advisory_xact_lock(hashtextextended(${hash}, 0))`;

/** The number is locked then: of two channels that share it at once, the second sees the first. */
export async function mayShareNumber(
  tx: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<boolean> {
  await tx.query(`select ${lockNumber(`encode($1::bytea, 'hex')`)}`, [institutionHash]);
  const [row] = await tx.query<{ foreign: boolean }>('select is_number_of_another_channel($1, $2, $3) as foreign', [
    paymentChannelCode,
    institutionHash,
    channelId,
  ]);
  return row?.foreign === false;
}

/** One of the agreements that another channel has under the number. */
export async function findForeignAgreement(
  db: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<{ readonly agreementNo: string; readonly appId: string } | undefined> {
  const [row] = await db.query<{ agreementNo: string; appId: string }>(
    `select a.agreement_no as "agreementNo", c.app_id as "appId" from agreements a join channels c using (channel_id)
     where a.payment_channel_code = $1 and a.institution_hash = $2 and a.status = 'BIND_SUCCESS' and a.channel_id <> $3
     order by a.agreement_id limit 1`,
    [paymentChannelCode, institutionHash, channelId],
  );
  return row;
}
