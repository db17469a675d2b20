import type { AgreementStatus } from '@perennial/wire';
import type { Queryable } from '../db/database.js';
import { written } from '../db/time-sql.js';

/** An agreement as operators see it: nothing of a card but its tail, and not what the institution calls it. */
export interface AgreementView {
  readonly agreementNo: string;
  readonly agreementStatus: AgreementStatus;
  readonly agreementSource: string;
  readonly channelUserId: string;
  readonly paymentChannelCode: string;
  readonly bankCode: string | null;
  readonly bankCardTailNo: string;
  readonly createTime: string;
  /** Whether the institution is still to be told that it has ended. */
  readonly cancelPending: boolean;
}

/** One that was bound; before that it has no number. */
export async function findAgreement(
  db: Queryable,
  agreementId: number,
): Promise<(AgreementView & { readonly agreementId: number }) | undefined> {
  const [row] = await db.query<AgreementView & { readonly agreementId: number }>(
    `select a.agreement_id as "agreementId", a.agreement_no as "agreementNo", a.status as "agreementStatus",
       a.source as "agreementSource", a.channel_user_id as "channelUserId",
       a.payment_channel_code as "paymentChannelCode", a.bank_code as "bankCode", a.card_tail as "bankCardTailNo",
       ${written('a.created_at')} as "createTime", a.cancel_at is not null as "cancelPending"
     from agreements a where a.agreement_id = $1 and a.agreement_no is not null`,
    [agreementId],
  );
  return row;
}

export interface RunningOrder {
  readonly orderNo: number;
  readonly agreementId: number;
}

/**
 * What runs on an agreement, in the order in which the rows are then locked. To the institution an agreement is its number,
 * so orders on another row with the same number run on it too.
 */
export async function findRunningOrders(db: Queryable, agreementId: number): Promise<RunningOrder[]> {
  return db.query<RunningOrder>(
    `select o.order_no as "orderNo", o.agreement_id as "agreementId"
     from agreements a
     join agreements g on g.payment_channel_code = a.payment_channel_code and g.institution_hash = a.institution_hash
     join orders o on o.agreement_id = g.agreement_id and o.status in ('ACTIVE', 'INITIALIZING')
     where a.agreement_id = $1 order by o.order_no`,
    [agreementId],
  );
}
