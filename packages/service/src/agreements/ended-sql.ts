import type { Queryable } from '../db/database.js';

export interface EndedAgreement {
  readonly agreementId: number;
  readonly channelId: number;
}

/** The agreements that an institution knows by this number; a channel may have shared one more than once. */
export async function findByInstitutionNo(
  db: Queryable,
  paymentChannelCode: string,
  institutionHash: Buffer,
): Promise<EndedAgreement[]> {
  return db.query<EndedAgreement>(
    `select agreement_id as "agreementId", channel_id as "channelId" from agreements
     where payment_channel_code = $1 and institution_hash = $2 order by agreement_id`,
    [paymentChannelCode, institutionHash],
  );
}

/** In the order in which their rows are then locked. */
export async function findActiveOrders(db: Queryable, agreementId: number): Promise<number[]> {
  const rows = await db.query<{ orderNo: number }>(
    `select order_no as "orderNo" from orders where agreement_id = $1 and status = 'ACTIVE' order by order_no`,
    [agreementId],
  );
  return rows.map((row) => row.orderNo);
}
