import {
  declareFind,
  declareList,
  declareRequire,
  declareWrite,
  type Queryable,
} from '../../../platform/db/database.js';
import { column, columns, type RowOf, statement } from '../../../platform/db/statement.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { RefundReference } from '../../domain/orders/refund-numbers.js';

/** A refund, with times in Unix milliseconds. */
export type Refund = RowOf<typeof REFUND_COLUMNS>;

const REFUND_FIELDS = `r.order_no as "orderNo", r.cycle_no as "cycleNo", r.refund_seq as "refundSeq", r.try_no as "tryNo",
  r.channel_id as "channelId", (select c.app_id from channels c where c.channel_id = r.channel_id) as "appId",
  r.payment_channel_code as "paymentChannelCode", r.amount_cent as "amountCent", r.status,
  r.reason, r.request_key as key, r.requested_by as "requestedBy", r.note, ${epochMs('r.started_at')} as "startedAt",
  ${epochMs('r.refunded_at')} as "refundedAt", r.institution_ref as "institutionRef", r.keep_benefits as "keepBenefits", r.asked`;

const REFUND_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  refundSeq: 'integer',
  /** The number, within the period, of the attempt that took the money. */
  tryNo: 'integer',
  channelId: 'bigint',
  appId: 'text',
  paymentChannelCode: 'text',
  amountCent: 'bigint',
  /** OUTSIDE: was made outside the service, and changes nothing that the channel sees. */
  status: column<'STARTED' | 'SUCCESS' | 'FAIL' | 'OUTSIDE'>('text'),
  /** The institution's reason, if it refused the refund. */
  reason: 'text?',
  /** The operator's idempotency key. */
  key: 'text?',
  requestedBy: 'text',
  note: 'text?',
  startedAt: 'bigint',
  refundedAt: 'bigint?',
  /** The institution's own number. Null for refunds of older bridges and older nodes. */
  institutionRef: 'text?',
  /** True if the refund revokes no benefits, unless it refunds the rest of the period. */
  keepBenefits: 'boolean',
  asked: 'integer',
});

/** Lists the refunds of one period in the order in which they were requested. */
export const findRefundsOfPeriod = declareList({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = $1 and r.cycle_no = $2 order by r.refund_seq`,
  parameters: { orderNo: 'bigint', cycleNo: 'integer' },
  columns: REFUND_COLUMNS,
});

export const findRefundsOfOrders = declareList({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = any($1::bigint[])
     order by r.order_no, r.cycle_no, r.refund_seq`,
  parameters: ['bigint[]'],
  columns: REFUND_COLUMNS,
});

export const findRefund = declareFind({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = $1 and r.cycle_no = $2 and r.refund_seq = $3`,
  parameters: { orderNo: 'bigint', cycleNo: 'integer', refundSeq: 'integer' },
  columns: REFUND_COLUMNS,
});

/** Finds the attempt that paid for a period, if it was paid. */
export const findPayingAttempt = declareFind({
  text: `select try_no as "tryNo", payment_channel_code as "paymentChannelCode" from debit_attempts
     where order_no = $1 and cycle_no = $2 and status = 'SUCCESS'`,
  parameters: { orderNo: 'bigint', cycleNo: 'integer' },
  columns: columns({ tryNo: 'integer', paymentChannelCode: 'text' }),
});

/**
 * Stores a refund. If it is STARTED, a job queries the institution after `askAfterSeconds` if the outcome is still unknown
 * then.
 */
export const insertRefund = declareRequire({
  text: `insert into refunds as r (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent,
       request_key, requested_by, note, started_at, ask_at, approval_id, keep_benefits,
       status)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${fromEpochMs('$11')},
       case $15 when 'STARTED' then now() + $12::double precision * interval '1 s' end, $13, $14, $15)
     returning ${REFUND_FIELDS}`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    refundSeq: 'integer',
    tryNo: 'integer',
    channelId: 'bigint',
    paymentChannelCode: 'text',
    amountCent: 'bigint',
    key: 'text?',
    requestedBy: 'text',
    note: 'text?',
    startedAt: 'double precision',
    askAfterSeconds: 'double precision',
    approvalId: 'bigint?',
    keepBenefits: 'boolean',
    status: column<'STARTED' | 'OUTSIDE'>('text'),
  },
  columns: REFUND_COLUMNS,
});

/** Leases refunds whose institution must be queried now. No other node gets them for `leaseSeconds`. */
export const leaseRefundsToAsk = declareList({
  text: `update refunds r set ask_at = now() + $2::double precision * interval '1 s', asked = r.asked + 1
     where (r.order_no, r.cycle_no, r.refund_seq) in (
       select d.order_no, d.cycle_no, d.refund_seq from refunds d
       where d.ask_at <= now() and ($3::text is null or d.payment_channel_code = $3) order by d.ask_at limit $1 for update skip locked)
     returning ${REFUND_FIELDS}`,
  parameters: ['bigint', 'double precision', 'text?'],
  columns: REFUND_COLUMNS,
});

const SCHEDULE_REFUND_QUESTION = statement({
  text: `update refunds set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and refund_seq = $3 and status = 'STARTED'`,
  parameters: ['bigint', 'integer', 'integer', 'double precision'],
});

export async function scheduleRefundQuestion(db: Queryable, refund: RefundReference, seconds: number): Promise<void> {
  await db.query(SCHEDULE_REFUND_QUESTION, [refund.orderNo, refund.cycleNo, refund.refundSeq, seconds]);
}

/** Stores the result of a refund in STARTED. The caller holds the order's lock. */
export const closeRefund = declareWrite({
  text: `update refunds set status = $4, reason = $5, refunded_at = ${fromEpochMs('$6')}, settled_at = ${fromEpochMs('$7')},
       institution_ref = $8, ask_at = null
     where order_no = $1 and cycle_no = $2 and refund_seq = $3`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    refundSeq: 'integer',
    status: column<'SUCCESS' | 'FAIL'>('text'),
    reason: 'text?',
    refundedAt: 'double precision?',
    at: 'double precision',
    institutionRef: 'text?',
  },
});
