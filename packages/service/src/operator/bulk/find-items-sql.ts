import type { PaymentStatus, SettlementMode } from '@perennial/wire';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { declareList, type Query } from '../../platform/db/declared.js';
import { fromEpochMs } from '../../platform/db/time-sql.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import type { PaymentReference } from '../../subscriptions/domain/orders/order-numbers.js';
import { ORDER_COLUMNS, ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';

export type FoundPeriod = RowOf<typeof FIND_PERIODS>;

const FIND_PERIODS = statement({
  text: `select p.order_no as "orderNo", p.cycle_no as "cycleNo", o.settlement_mode as "settlementMode", p.status,
       p.amount_cent as "amountCent", p.amount_cent - p.refund_amount_cent - coalesce((
         select sum(f.amount_cent)::bigint from refunds f
         where f.order_no = p.order_no and f.cycle_no = p.cycle_no and f.status in ('STARTED', 'OUTSIDE')), 0) as "leftCent"
     from unnest($1::bigint[], $2::integer[]) with ordinality as n(order_no, cycle_no, place)
       join payments p using (order_no, cycle_no) join orders o using (order_no) order by n.place`,
  parameters: ['bigint[]', 'integer[]'],
  columns: columns({
    orderNo: 'bigint',
    cycleNo: 'integer',
    settlementMode: column<SettlementMode>('text'),
    status: column<PaymentStatus>('text'),
    amountCent: 'bigint',
    /** The part of the amount that was not refunded and is not being refunded. */
    leftCent: 'bigint',
  }),
});

/** Returns the periods in the given order. Omits periods that have not begun. */
export async function findPeriods(db: Queryable, periods: readonly PaymentReference[]): Promise<FoundPeriod[]> {
  return db.query(FIND_PERIODS, [periods.map(({ orderNo }) => orderNo), periods.map(({ cycleNo }) => cycleNo)]);
}

/**
 * Returns the orders and payments that the entries of a list name, by their places from 1. An entry can be the number of
 * an order (`$2`), of a payment (`$3` and `$4`) or a channel's own number, so it may have several rows. 0 stands for none.
 */
export const findNumbers = declareList({
  text: `with n as (select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[]) with ordinality
       as n(number, order_no, paid_order, paid_cycle, place))
     select n.place, o.order_no as "orderNo", o.cycle_no as "latestCycleNo", null::integer as "cycleNo"
     from n, lateral (select * from orders o where o.order_no = n.order_no offset 0) o
     union all
     select n.place, o.order_no, o.cycle_no, null
     from n, lateral (select * from external_orders e where key_of(e.external_order_no) = key_of(n.number) offset 0) e,
       lateral (select * from orders o where o.order_no = e.order_no offset 0) o
     union all
     select n.place, o.order_no, o.cycle_no, p.cycle_no
     from n, lateral (select * from payments p where p.order_no = n.paid_order and p.cycle_no = n.paid_cycle offset 0) p,
       lateral (select * from orders o where o.order_no = p.order_no offset 0) o
     order by 1`,
  parameters: ['text[]', 'bigint[]', 'bigint[]', 'integer[]'],
  columns: columns({ place: 'bigint', orderNo: 'bigint', latestCycleNo: 'integer', cycleNo: 'integer?' }),
});

/**
 * Returns the periods that were paid in a time and can be refunded. The BRIN index on `paid_at` limits the search to the
 * blocks of that time.
 */
export const findPaidPeriods = declareList({
  text: `select p.order_no as "orderNo", p.cycle_no as "cycleNo"
     from payments p join orders o using (order_no)
     where p.paid_at >= ${fromEpochMs('$1')} and p.paid_at < ${fromEpochMs('$2')}
       and ${paymentStatusIs('p.status', 'SUCCESS', 'REFUND_PART')} and o.settlement_mode = 'SVC_DEDUCT'
       and ($3::bigint is null or p.channel_id = $3) and ($4::text is null or o.product_code = $4)
       and ($5::integer is null or p.cycle_no = $5) limit $6`,
  parameters: ['double precision', 'double precision', 'bigint?', 'text?', 'integer?', 'bigint'],
  columns: columns({ orderNo: 'bigint', cycleNo: 'integer' }),
  byIndex: true,
});

export const findOrders: Query<[orderNos: readonly number[]], Order[]> = declareList({
  text: `select ${ORDER_FIELDS} from orders o where o.order_no = any($1::bigint[]) order by o.order_no`,
  parameters: ['bigint[]'],
  columns: ORDER_COLUMNS,
});

export const findEventsByNumber = declareList({
  text: `select e.event_no as "eventNo", e.order_no as "orderNo", c.app_id as "appId"
     from events e join channels c using (channel_id) where e.event_no = any($1::bigint[])`,
  parameters: ['bigint[]'],
  columns: columns({ eventNo: 'bigint', orderNo: 'bigint', appId: 'text' }),
});

const FIND_NEXT_TRY = statement({
  text: `select coalesce(max(try_no), 0) + 1 as "tryNo" from debit_attempts where order_no = $1 and cycle_no = $2`,
  parameters: ['bigint', 'integer'],
  columns: columns({ tryNo: 'integer' }),
});

/** Returns the number of a period's next attempt, from 1. */
export async function findNextTry(db: Queryable, { orderNo, cycleNo }: PaymentReference): Promise<number> {
  return (await queryOne(db, FIND_NEXT_TRY, [orderNo, cycleNo]))?.tryNo ?? 1;
}
