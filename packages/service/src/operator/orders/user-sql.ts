import type { AgreementStatus } from '@perennial/wire';
import { column, columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/** What a user of a channel has, the newest first, each list up to a bound. Times as the interface writes them. */
export type UserAgreement = RowOf<typeof LIST_AGREEMENTS_OF_USER>;

const LIST_AGREEMENTS_OF_USER = statement({
  text: `select a.agreement_no as "agreementNo", a.status as "agreementStatus", a.payment_channel_code as "paymentChannelCode",
      a.card_tail as "bankCardTailNo", ${shanghaiText('a.created_at')} as "createTime"
    from agreements a where a.channel_id = $1 and key_of(a.channel_user_id) = key_of($2) and a.agreement_no is not null
    order by a.agreement_id desc limit $3`,
  parameters: ['bigint', 'text', 'bigint'],
  columns: columns({
    agreementNo: 'text',
    agreementStatus: column<AgreementStatus>('text'),
    paymentChannelCode: 'text',
    bankCardTailNo: 'text',
    createTime: 'text',
  }),
});

export async function listAgreementsOfUser(
  db: Queryable,
  channelId: number,
  channelUserId: string,
  limit: number,
): Promise<UserAgreement[]> {
  return db.query(LIST_AGREEMENTS_OF_USER, [channelId, channelUserId, limit]);
}

export type RefundOfUser = RowOf<typeof LIST_REFUNDS_OF_ORDERS>;

const LIST_REFUNDS_OF_ORDERS = statement({
  text: `select r.order_no as "orderNo", r.cycle_no as "cycleNo", r.refund_seq as "refundSeq", r.amount_cent as "amountCent",
      r.status, ${shanghaiText('r.started_at')} as "startedAt", r.requested_by as "requestedBy"
    from unnest($1::bigint[]) as k(order_no), lateral (select * from refunds r where r.order_no = k.order_no offset 0) r
    order by r.started_at desc, r.order_no, r.cycle_no, r.refund_seq limit $2`,
  parameters: ['bigint[]', 'bigint'],
  columns: columns({
    orderNo: 'bigint',
    cycleNo: 'integer',
    refundSeq: 'integer',
    amountCent: 'bigint',
    status: 'text',
    startedAt: 'text',
    requestedBy: 'text',
  }),
});

export async function listRefundsOfOrders(
  db: Queryable,
  orderNos: readonly number[],
  limit: number,
): Promise<RefundOfUser[]> {
  return db.query(LIST_REFUNDS_OF_ORDERS, [orderNos, limit]);
}

export type ClaimOfUser = RowOf<typeof LIST_CLAIMS_OF_ORDERS>;

const LIST_CLAIMS_OF_ORDERS = statement({
  text: `select k.order_no as "orderNo", k.cycle_no as "cycleNo", k.position, k.benefit_code as "benefitCode",
      coalesce((select b.name from benefits b
        where b.order_no = k.order_no and b.cycle_no = k.cycle_no and b.position = k.position), k.benefit_code) as name,
      k.status, ${shanghaiText('k.claimed_at')} as "claimedAt"
    from unnest($1::bigint[]) as o(order_no), lateral (select * from claims k where k.order_no = o.order_no offset 0) k
    order by k.claimed_at desc, k.order_no, k.cycle_no, k.position limit $2`,
  parameters: ['bigint[]', 'bigint'],
  columns: columns({
    orderNo: 'bigint',
    cycleNo: 'integer',
    position: 'integer',
    benefitCode: 'text',
    name: 'text',
    status: 'text',
    claimedAt: 'text',
  }),
});

export async function listClaimsOfOrders(
  db: Queryable,
  orderNos: readonly number[],
  limit: number,
): Promise<ClaimOfUser[]> {
  return db.query(LIST_CLAIMS_OF_ORDERS, [orderNos, limit]);
}
