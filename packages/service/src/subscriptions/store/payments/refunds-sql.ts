import { type Queryable, queryOne, requireOne } from '../../../platform/db/database.js';
import { column, columns, type RowOf, statement } from '../../../platform/db/statement.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { PaymentReference } from '../../domain/orders/order-numbers.js';
import type { RefundReference } from '../../domain/orders/refund-numbers.js';

/** Times in Unix milliseconds. */
export type Refund = RowOf<typeof REFUND_COLUMNS>;

const REFUND_FIELDS = `r.order_no as "orderNo", r.cycle_no as "cycleNo", r.refund_seq as "refundSeq", r.try_no as "tryNo",
  r.channel_id as "channelId", (select c.app_id from channels c where c.channel_id = r.channel_id) as "appId",
  r.payment_channel_code as "paymentChannelCode", r.amount_cent as "amountCent", r.status,
  r.reason, r.request_key as key, r.requested_by as "requestedBy", r.note, ${epochMs('r.started_at')} as "startedAt",
  ${epochMs('r.refunded_at')} as "refundedAt", r.asked`;

const REFUND_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  refundSeq: 'integer',
  /** The attempt that took the money. */
  tryNo: 'integer',
  channelId: 'bigint',
  appId: 'text',
  paymentChannelCode: 'text',
  amountCent: 'bigint',
  status: column<'STARTED' | 'SUCCESS' | 'FAIL'>('text'),
  /** Why the institution refused. */
  reason: 'text?',
  /** The operator's idempotency key. */
  key: 'text?',
  requestedBy: 'text',
  note: 'text?',
  startedAt: 'bigint',
  refundedAt: 'bigint?',
  asked: 'integer',
});

const FIND_REFUNDS_OF_PERIOD = statement({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = $1 and r.cycle_no = $2 order by r.refund_seq`,
  parameters: ['bigint', 'integer'],
  columns: REFUND_COLUMNS,
});

/** The refunds of one period, in the order in which they were asked for. */
export async function findRefundsOfPeriod(db: Queryable, { orderNo, cycleNo }: PaymentReference): Promise<Refund[]> {
  return db.query(FIND_REFUNDS_OF_PERIOD, [orderNo, cycleNo]);
}

const FIND_REFUNDS_OF_ORDER = statement({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = $1 order by r.cycle_no, r.refund_seq`,
  parameters: ['bigint'],
  columns: REFUND_COLUMNS,
});

export async function findRefundsOfOrder(db: Queryable, orderNo: number): Promise<Refund[]> {
  return db.query(FIND_REFUNDS_OF_ORDER, [orderNo]);
}

const FIND_REFUND = statement({
  text: `select ${REFUND_FIELDS} from refunds r where r.order_no = $1 and r.cycle_no = $2 and r.refund_seq = $3`,
  parameters: ['bigint', 'integer', 'integer'],
  columns: REFUND_COLUMNS,
});

export async function findRefund(db: Queryable, reference: RefundReference): Promise<Refund | undefined> {
  return queryOne(db, FIND_REFUND, [reference.orderNo, reference.cycleNo, reference.refundSeq]);
}

const FIND_PAYING_ATTEMPT = statement({
  text: `select try_no as "tryNo", payment_channel_code as "paymentChannelCode" from debit_attempts
     where order_no = $1 and cycle_no = $2 and status = 'SUCCESS'`,
  parameters: ['bigint', 'integer'],
  columns: columns({ tryNo: 'integer', paymentChannelCode: 'text' }),
});

/** The attempt that paid for a period. */
export async function findPayingAttempt(
  db: Queryable,
  { orderNo, cycleNo }: PaymentReference,
): Promise<{ tryNo: number; paymentChannelCode: string } | undefined> {
  return queryOne(db, FIND_PAYING_ATTEMPT, [orderNo, cycleNo]);
}

export type NewRefund = Omit<Refund, 'appId' | 'status' | 'reason' | 'refundedAt' | 'asked'>;

const INSERT_REFUND = statement({
  text: `insert into refunds as r (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent,
       request_key, requested_by, note, started_at, ask_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${fromEpochMs('$11')}, now() + $12::double precision * interval '1 s')
     returning ${REFUND_FIELDS}`,
  parameters: [
    'bigint',
    'integer',
    'integer',
    'integer',
    'bigint',
    'text',
    'bigint',
    'text',
    'text',
    'text',
    'double precision',
    'double precision',
  ],
  columns: REFUND_COLUMNS,
});

/** After `askAfterSeconds` the institution is asked, if the outcome is still unknown. */
export async function insertRefund(tx: Queryable, refund: NewRefund, askAfterSeconds: number): Promise<Refund> {
  return requireOne(tx, INSERT_REFUND, [
    refund.orderNo,
    refund.cycleNo,
    refund.refundSeq,
    refund.tryNo,
    refund.channelId,
    refund.paymentChannelCode,
    refund.amountCent,
    refund.key,
    refund.requestedBy,
    refund.note,
    refund.startedAt,
    askAfterSeconds,
  ]);
}

const LEASE_REFUNDS_TO_ASK = statement({
  text: `update refunds r set ask_at = now() + $2::double precision * interval '1 s', asked = r.asked + 1
     where (r.order_no, r.cycle_no, r.refund_seq) in (
       select d.order_no, d.cycle_no, d.refund_seq from refunds d
       where d.ask_at <= now() and ($3::text is null or d.payment_channel_code = $3) order by d.ask_at limit $1 for update skip locked)
     returning ${REFUND_FIELDS}`,
  parameters: ['bigint', 'double precision', 'text'],
  columns: REFUND_COLUMNS,
});

/** Refunds whose institution is to be asked now. No other node gets them until `leaseSeconds` have passed. */
export async function leaseRefundsToAsk(
  db: Queryable,
  limit: number,
  leaseSeconds: number,
  paymentChannelCode?: string,
): Promise<Refund[]> {
  return db.query(LEASE_REFUNDS_TO_ASK, [limit, leaseSeconds, paymentChannelCode ?? null]);
}

const SCHEDULE_REFUND_QUESTION = statement({
  text: `update refunds set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and refund_seq = $3 and status = 'STARTED'`,
  parameters: ['bigint', 'integer', 'integer', 'double precision'],
});

export async function scheduleRefundQuestion(db: Queryable, refund: RefundReference, seconds: number): Promise<void> {
  await db.query(SCHEDULE_REFUND_QUESTION, [refund.orderNo, refund.cycleNo, refund.refundSeq, seconds]);
}

const CLOSE_REFUND = statement({
  text: `update refunds set status = $4, reason = $5, refunded_at = ${fromEpochMs('$6')}, settled_at = ${fromEpochMs('$7')},
       ask_at = null
     where order_no = $1 and cycle_no = $2 and refund_seq = $3`,
  parameters: ['bigint', 'integer', 'integer', 'text', 'text', 'double precision', 'double precision'],
});

/** The caller holds the order's lock, and the refund is STARTED. */
export async function closeRefund(
  tx: Queryable,
  refund: RefundReference,
  status: 'SUCCESS' | 'FAIL',
  detail: { readonly reason: string | null; readonly refundedAt: number | null },
  at: number,
): Promise<void> {
  await tx.query(CLOSE_REFUND, [
    refund.orderNo,
    refund.cycleNo,
    refund.refundSeq,
    status,
    detail.reason,
    detail.refundedAt,
    at,
  ]);
}
