import type { AgreementStatus } from '@perennial/wire';
import { column, columns, type RowOf } from '../../../platform/db/database.js';
import { declareList, type Query } from '../../../platform/db/declared.js';
import { shanghaiText } from '../../../platform/db/time-sql.js';

/** An agreement of a channel's user. Times are formatted as in the API. */
export type UserAgreement = RowOf<typeof USER_AGREEMENT_COLUMNS>;

const USER_AGREEMENT_COLUMNS = columns({
  agreementNo: 'text',
  agreementStatus: column<AgreementStatus>('text'),
  paymentChannelCode: 'text',
  bankCardTailNo: 'text',
  createTime: 'text',
});

export const listAgreementsOfUser: Query<[channelId: number, channelUserId: string, limit: number], UserAgreement[]> =
  declareList({
    text: `select a.agreement_no as "agreementNo", a.status as "agreementStatus", a.payment_channel_code as "paymentChannelCode",
      a.card_tail as "bankCardTailNo", ${shanghaiText('a.created_at')} as "createTime"
    from agreements a where a.channel_id = $1 and key_of(a.channel_user_id) = key_of($2) and a.agreement_no is not null
    order by a.agreement_id desc limit $3`,
    parameters: ['bigint', 'text', 'bigint'],
    columns: USER_AGREEMENT_COLUMNS,
  });

/** Returns the bindings that are in progress or have failed, latest first. */
export const listBindingsOfUser = declareList({
  text: `select a.agreement_id as "agreementId", a.status as "agreementStatus",
      a.payment_channel_code as "paymentChannelCode", a.card_tail as "bankCardTailNo", a.details,
      ${shanghaiText('a.created_at')} as "createTime", ${shanghaiText('a.code_sent_at')} as "codeSentAt",
      a.wrong_codes as "wrongCodes"
    from agreements a where a.channel_id = $1 and key_of(a.channel_user_id) = key_of($2) and a.agreement_no is null
    order by a.agreement_id desc limit $3`,
  parameters: ['bigint', 'text', 'bigint'],
  columns: columns({
    agreementId: 'bigint',
    agreementStatus: column<AgreementStatus>('text'),
    paymentChannelCode: 'text',
    bankCardTailNo: 'text',
    /** Sealed. */
    details: 'text',
    createTime: 'text',
    codeSentAt: 'text?',
    wrongCodes: 'integer',
  }),
});

/** Returns when the redemption page sent messages to a login mobile. They are kept for two days. */
export const listMessageTimes = declareList({
  text: `select ${shanghaiText('s.sent_at')} as "sentAt" from sms_sends s where s.bank_mobile_hash = $1 order by s.sent_at desc`,
  parameters: ['bytea'],
  columns: columns({ sentAt: 'text' }),
  value: ({ sentAt }) => sentAt,
});

export type RefundOfUser = RowOf<typeof REFUND_OF_USER_COLUMNS>;

const REFUND_OF_USER_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  refundSeq: 'integer',
  amountCent: 'bigint',
  status: 'text',
  startedAt: 'text',
  requestedBy: 'text',
});

export const listRefundsOfOrders: Query<[orderNos: readonly number[], limit: number], RefundOfUser[]> = declareList({
  text: `select r.order_no as "orderNo", r.cycle_no as "cycleNo", r.refund_seq as "refundSeq", r.amount_cent as "amountCent",
      r.status, ${shanghaiText('r.started_at')} as "startedAt", r.requested_by as "requestedBy"
    from unnest($1::bigint[]) as k(order_no), lateral (select * from refunds r where r.order_no = k.order_no offset 0) r
    order by r.started_at desc, r.order_no, r.cycle_no, r.refund_seq limit $2`,
  parameters: ['bigint[]', 'bigint'],
  columns: REFUND_OF_USER_COLUMNS,
});

export type ClaimOfUser = RowOf<typeof CLAIM_OF_USER_COLUMNS>;

const CLAIM_OF_USER_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  benefitCode: 'text',
  name: 'text',
  status: 'text',
  claimedAt: 'text',
});

export const listClaimsOfOrders: Query<[orderNos: readonly number[], limit: number], ClaimOfUser[]> = declareList({
  text: `select k.order_no as "orderNo", k.cycle_no as "cycleNo", k.position, k.benefit_code as "benefitCode",
      coalesce((select b.name from benefits b
        where b.order_no = k.order_no and b.cycle_no = k.cycle_no and b.position = k.position), k.benefit_code) as name,
      k.status, ${shanghaiText('k.claimed_at')} as "claimedAt"
    from unnest($1::bigint[]) as o(order_no), lateral (select * from claims k where k.order_no = o.order_no offset 0) k
    order by k.claimed_at desc, k.order_no, k.cycle_no, k.position limit $2`,
  parameters: ['bigint[]', 'bigint'],
  columns: CLAIM_OF_USER_COLUMNS,
});
