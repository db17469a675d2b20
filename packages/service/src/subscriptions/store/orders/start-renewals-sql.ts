import { debitsArePausedSql } from '../../../catalog/payment-channels/pace-sql.js';
import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { epochMs } from '../../../platform/db/time-sql.js';
import { afterPeriodsSql } from '../../domain/orders/calendar.js';
import { requirePaymentTransition, WAITING_FOR_RETRY_STATUSES } from '../../domain/payments/payment-states.js';
import type { Attempt } from '../payments/attempts-sql.js';
import { agreementStatusIs, paymentStatusIs, statusLiteral } from '../statuses-sql.js';
import {
  DUE_PARAMETERS,
  type DueCursor,
  type DueOrders,
  dueOrdersSql,
  dueParameters,
  momentSql,
} from './due-orders-sql.js';
import { retryIsTooLateSql } from './expire-and-complete-sql.js';

const STARTED = requirePaymentTransition('WAIT', 'renewal-started').to;
const STARTED_AGAIN = requirePaymentTransition('FAIL_RETRY', 'renewal-started').to;

/** A debit attempt that is stored and can now be sent. */
export interface StartedRenewal extends Attempt {
  /** The agreement's number at the institution, encrypted. */
  readonly institutionNo: string;
}

export interface StartedBatch {
  readonly renewals: readonly StartedRenewal[];
  /** Agreements that are not bound although orders on them are due. Nothing was stored for these orders. */
  readonly notBound: readonly number[];
  readonly last: DueCursor | undefined;
}

/**
 * Mode A: takes due orders of one payment channel and stores a debit attempt for each, before the institution is
 * called. This also reserves the order, because an order with an open attempt is not due. If this node dies, any node
 * that finds the attempt open after `ask_at` queries the institution. If the latest period waits for a retry, it is
 * retried. Otherwise the next period begins. expire-and-complete-sql.ts handles orders that need no debit.
 *
 * Nothing is stored for an agreement that is not bound. The order's lock keeps the agreement bound until the commit,
 * because an agreement ends only under the locks of all active orders on it (docs/decisions/0010). If an order's row is
 * newer than this statement's snapshot, PostgreSQL checks the row again after locking it. An order whose agreement has
 * ended by then is no longer due.
 *
 * `= any(array[…])` makes PostgreSQL look rows up one by one. Otherwise it could keep a plan made for a small table,
 * and read the whole table.
 */
const startRenewalsStatement = (kind: DueOrders['kind']) =>
  statement({
    name: `start-renewals-${kind}`,
    text: `
with due as materialized (
  select o.order_no, o.channel_id, o.external_order_no, o.created_at, o.period_type, o.period, o.amount_cent,
    o.agreement_id, o.next_due_at, ${momentSql(kind)} as at,
    (select g.institution_no from agreements g where g.agreement_id = o.agreement_id and ${agreementStatusIs('g.status', 'BIND_SUCCESS')})
      as institution_no,
    o.cycle_no + case when ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)} then 0 else 1 end as debited_no
  from orders o where o.settlement_mode = 'SVC_DEDUCT' and o.payment_channel_code = $4 and o.total_cycles > 1
    and not (${retryIsTooLateSql('o', momentSql(kind))}) ${kind === 'everything' ? `and not ${debitsArePausedSql('$4')}` : ''} and ${dueOrdersSql(kind)}
), started as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent, attempts)
  select d.order_no, d.debited_no, d.channel_id, ${statusLiteral(STARTED)}, ${afterPeriodsSql('d.debited_no - 1', 'd')},
    d.amount_cent, 1
  from due d where d.institution_no is not null
  on conflict (order_no, cycle_no) do update set status = ${statusLiteral(STARTED_AGAIN)}, attempts = payments.attempts + 1
    where ${paymentStatusIs('payments.status', ...WAITING_FOR_RETRY_STATUSES)}
  returning order_no, cycle_no, attempts
), attempted as (
  insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
    started_at, ask_at)
  select s.order_no, s.cycle_no, s.attempts, d.channel_id, d.agreement_id, $4, d.amount_cent, d.at,
    now() + $5::double precision * interval '1 s'
  from started s join due d using (order_no)
  returning order_no, cycle_no, try_no, started_at
), moved as (
  update orders o set cycle_no = s.cycle_no, next_due_at = null, latest_payment_status = ${statusLiteral(STARTED)}
  from started s where o.order_no = any(array[s.order_no])
)
select d.order_no as "orderNo", a.cycle_no as "cycleNo", a.try_no as "tryNo", d.channel_id as "channelId",
  d.agreement_id as "agreementId", d.amount_cent as "amountCent", ${epochMs('a.started_at')} as "startedAt",
  d.external_order_no as "externalOrderNo", d.next_due_at::text as "dueAt", d.institution_no as "institutionNo"
from due d left join attempted a using (order_no) order by d.next_due_at, d.order_no`,
    parameters: [...DUE_PARAMETERS, 'text', 'double precision'],
    // The fields of the attempt are null if the agreement is not bound.
    columns: columns({
      orderNo: 'bigint',
      cycleNo: 'integer?',
      tryNo: 'integer?',
      channelId: 'bigint',
      agreementId: 'bigint',
      amountCent: 'bigint',
      startedAt: 'bigint?',
      externalOrderNo: 'text',
      dueAt: 'text',
      institutionNo: 'text?',
    }),
  });

const START_RENEWALS = {
  everything: startRenewalsStatement('everything'),
  'one-order': startRenewalsStatement('one-order'),
};

export async function startRenewals(
  db: Queryable,
  paymentChannelCode: string,
  due: DueOrders,
  limit: number,
  askAfterSeconds: number,
): Promise<StartedBatch> {
  const rows = await db.query(START_RENEWALS[due.kind], [
    ...dueParameters(due, limit),
    paymentChannelCode,
    askAfterSeconds,
  ]);
  const renewals: StartedRenewal[] = [];
  for (const row of rows) {
    const { orderNo, channelId, agreementId, amountCent, externalOrderNo } = row;
    const { cycleNo, tryNo, startedAt, institutionNo } = row;
    if (cycleNo === null || tryNo === null || startedAt === null || institutionNo === null) continue;
    renewals.push({
      orderNo,
      cycleNo,
      tryNo,
      channelId,
      agreementId,
      paymentChannelCode,
      amountCent,
      status: 'STARTED',
      startedAt,
      asked: 0,
      externalOrderNo,
      institutionNo,
    });
  }
  const notBound = rows.flatMap(({ institutionNo, agreementId }) => (institutionNo === null ? [agreementId] : []));
  const last = rows.at(-1);
  return { renewals, notBound: [...new Set(notBound)], last: last && { dueAt: last.dueAt, orderNo: last.orderNo } };
}
