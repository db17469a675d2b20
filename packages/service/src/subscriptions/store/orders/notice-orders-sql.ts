import {
  columns,
  declareFind,
  declareRequire,
  type Queryable,
  queryOne,
  statement,
} from '../../../platform/db/database.js';
import { isoTime } from '../../../platform/db/time-sql.js';
import { afterPeriodsSql } from '../../domain/orders/calendar.js';
import { upcomingPayloadSql } from '../events/event-payload-sql.js';
import { orderStatusIs, statusLiteral } from '../statuses-sql.js';
import type { DueBatch, DueCursor } from './due-orders-sql.js';

/** SQL: the notice time of the next period of the order named `o`. Must be the same expression as in the index. */
const NOTICE_TIME = 'notice_time(o.next_due_at, o.notice_days)';

/** SQL: true if the next period of the order named `o` needs a notice, as in the index. Retries have no notice. */
const TO_NOTICE = `o.notice_days is not null and o.next_due_at is not null and ${orderStatusIs('o.status', 'ACTIVE')}
    and o.noticed_cycle <= o.cycle_no and o.cycle_no < o.total_cycles and o.latest_payment_status <> ${statusLiteral('FAIL_RETRY')}`;

/** SQL: matches the due notices after the cursor ($1 and $2), by the database's clock. */
export const DUE_NOTICES = `${TO_NOTICE} and ${NOTICE_TIME} <= now() and (${NOTICE_TIME}, o.order_no) > ($1::timestamptz, $2::bigint)`;
const BY_NOTICE_TIME = `order by ${NOTICE_TIME}, o.order_no`;

/**
 * SQL: writes the notices of the orders in `due`. These orders are locked, and `due.at` is the time of the notice. One
 * statement marks the order and inserts the event, so no period is announced twice.
 */
const WRITE_NOTICES = `noticed as (
  update orders o set noticed_cycle = o.cycle_no + 1 from due d where o.order_no = any(array[d.order_no])
  returning o.order_no, o.channel_id, o.external_order_no, o.channel_user_id, o.cycle_no, o.created_at, o.period_type, o.period,
    o.amount_cent, o.settlement_mode, o.shared, d.at
), written as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select n.channel_id, n.order_no, 'payment.upcoming', n.cycle_no + 1, n.at, ${upcomingPayloadSql('n')}
  from noticed n
)`;

const NOTICE_ORDERS = statement({
  name: 'notice-orders',
  text: `
with due as materialized (
  select o.order_no, ${NOTICE_TIME} as notice_at, date_trunc('second', now()) as at
  from orders o where ${DUE_NOTICES} ${BY_NOTICE_TIME} limit $3 for update skip locked
), ${WRITE_NOTICES}
select d.notice_at::text as "dueAt", d.order_no as "orderNo" from due d order by d.notice_at, d.order_no`,
  parameters: ['timestamp with time zone', 'bigint', 'bigint'],
  columns: columns({ dueAt: 'text', orderNo: 'bigint' }),
});

/** Announces the next periods of up to `limit` orders whose notice is due. Skips orders that are locked. */
export async function noticeOrders(db: Queryable, after: DueCursor, limit: number): Promise<DueBatch> {
  const orders = await db.query(NOTICE_ORDERS, [after.dueAt, after.orderNo, limit]);
  return { orders: orders.length, last: orders.length < limit ? undefined : orders.at(-1) };
}

/** Finds the first due notice after the cursor. */
export const findFirstNotice = declareFind({
  text: `select ${NOTICE_TIME}::text as "dueAt", o.order_no as "orderNo" from orders o where ${DUE_NOTICES} ${BY_NOTICE_TIME} limit 1`,
  parameters: { dueAt: 'timestamp with time zone', orderNo: 'bigint' },
  columns: columns({ dueAt: 'text', orderNo: 'bigint' }),
});

/**
 * SQL: the notice time by the order's own clock. It is never earlier than the start and the settlement of the current
 * period.
 */
const OWN_NOTICE_TIME = `greatest(date_trunc('second', ${NOTICE_TIME}), ${afterPeriodsSql('o.cycle_no - 1', 'o')},
    (select case o.settlement_mode when 'CHANNEL_COLLECT' then p.paid_at else (
        select max(t.settled_at) from debit_attempts t where t.order_no = o.order_no and t.cycle_no = o.cycle_no) end
     from payments p where p.order_no = o.order_no and p.cycle_no = o.cycle_no))`;

const NOTICE_ORDER = statement({
  text: `
with due as materialized (
  select t.order_no, least(date_trunc('second', t.notice_at), $2) as at from (
    select o.order_no, ${NOTICE_TIME} as due_at, ${OWN_NOTICE_TIME} as notice_at from orders o where o.order_no = $1 and ${TO_NOTICE}
  ) t where t.due_at <= $2
), ${WRITE_NOTICES}
select count(*)::integer as orders from noticed`,
  parameters: ['bigint', 'timestamp with time zone'],
  columns: columns({ orders: 'integer' }),
});

/**
 * Announces an order's next period if the notice is due by `until` on the order's own clock. The caller holds the
 * order's lock.
 */
export async function noticeOrder(tx: Queryable, orderNo: number, until: number): Promise<boolean> {
  return (await queryOne(tx, NOTICE_ORDER, [orderNo, isoTime(until)]))?.orders === 1;
}

/** Counts the due notices, up to a limit. */
export const readDueNotices = declareRequire({
  text: `select (select count(*)::integer from (select from orders o where ${TO_NOTICE} and ${NOTICE_TIME} <= now() limit $1) d) as count,
       coalesce((select extract(epoch from now() - ${NOTICE_TIME}) from orders o where ${TO_NOTICE} and ${NOTICE_TIME} <= now()
         ${BY_NOTICE_TIME} limit 1), 0)::double precision as "oldestSeconds"`,
  parameters: ['bigint'],
  columns: columns({
    count: 'integer',
    /** The seconds since the oldest notice became due. 0 if none is due. */
    oldestSeconds: 'double precision',
  }),
});
