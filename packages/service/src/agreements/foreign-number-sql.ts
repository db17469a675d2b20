import type { Queryable } from '../db/database.js';

/** What an institution calls an agreement: the number itself is nowhere in the clear. */
export interface NumberAtInstitution {
  readonly paymentChannelCode: string;
  readonly institutionHash: Buffer;
}

/** The number is locked until the transaction ends: of two channels that share it at once, the second sees the first. */
export async function mayShareNumber(
  tx: Queryable,
  channelId: number,
  { paymentChannelCode, institutionHash }: NumberAtInstitution,
): Promise<boolean> {
  const [row] = await tx.query<{ allowed: boolean }>('select may_share_number($1, $2, $3) as allowed', [
    paymentChannelCode,
    institutionHash,
    channelId,
  ]);
  return row?.allowed === true;
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
