import type { OrderStatus, PaymentStatus } from '@perennial/wire';
import { declareFind, declareList, declareWrite, type Queryable } from '../../../platform/db/database.js';
import { column, columns, columnsOf, joinColumns, type RowOf, statement } from '../../../platform/db/statement.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { PAYMENT_COLUMNS, PAYMENT_FIELDS } from '../payments/payments-sql.js';

/** SQL: the fields of an order, for a select that names the table orders `o`. */
export const ORDER_FIELDS = `o.order_no as "orderNo", o.channel_id as "channelId",
  o.external_order_no as "externalOrderNo", o.channel_user_id as "channelUserId", o.product_code as "productCode",
  o.settlement_mode as "settlementMode", o.status, o.period_type as "periodType", o.period,
  o.total_cycles as "totalCycles", o.amount_cent as "amountCent", ${epochMs('o.created_at')} as "createdAt",
  ${epochMs('o.success_at')} as "successAt", ${epochMs('o.unsubscribed_at')} as "unsubscribedAt", o.cycle_no as "cycleNo",
  ${epochMs('o.next_due_at')} as "nextDueAt", o.paid_cycles as "paidCycles", o.paid_amount_cent as "paidAmountCent",
  o.refund_amount_cent as "refundAmountCent", o.latest_payment_status as "latestPaymentStatus",
  o.agreement_id as "agreementId", o.shared`;

export const ORDER_COLUMNS = columnsOf<Order>({
  orderNo: 'bigint',
  channelId: 'bigint',
  externalOrderNo: 'text',
  channelUserId: 'text',
  productCode: 'text',
  settlementMode: 'text',
  status: 'text',
  periodType: 'text',
  period: 'integer',
  totalCycles: 'integer',
  amountCent: 'bigint',
  createdAt: 'bigint',
  successAt: 'bigint?',
  unsubscribedAt: 'bigint?',
  cycleNo: 'integer',
  nextDueAt: 'bigint?',
  paidCycles: 'integer',
  paidAmountCent: 'bigint',
  refundAmountCent: 'bigint',
  latestPaymentStatus: 'text?',
  agreementId: 'bigint?',
  shared: 'boolean',
});

/** Identifies an order of the channel by its order number or by its external number. */
export type OrderReference =
  | { readonly orderNo: number; readonly externalOrderNo?: undefined }
  | { readonly externalOrderNo: string; readonly orderNo?: undefined };

/**
 * SQL: conditions on the order named `o`, by its order number or external number ($2). They include the channel ($1),
 * so that orders of other channels are not found.
 */
const BY_NUMBER = 'o.channel_id = $1 and o.order_no = $2';
const BY_EXTERNAL = `o.channel_id = $1 and o.order_no =
  (select e.order_no from external_orders e where key_of(e.external_order_no) = key_of($2))`;

const lockOrderStatement = <Type extends 'bigint' | 'text'>(where: string, type: Type) =>
  statement({
    text: `select ${ORDER_FIELDS} from orders o where ${where} for update of o`,
    parameters: ['bigint', type],
    columns: ORDER_COLUMNS,
  });

const LOCK_ORDER_OF_CHANNEL_BY_NUMBER = lockOrderStatement(BY_NUMBER, 'bigint');
const LOCK_ORDER_OF_CHANNEL_BY_EXTERNAL = lockOrderStatement(BY_EXTERNAL, 'text');

/** Reads an order under its row lock. Every transaction takes this lock before it changes an order. */
export async function lockOrderOfChannel(
  tx: Queryable,
  channelId: number,
  { orderNo, externalOrderNo }: OrderReference,
): Promise<Order | undefined> {
  const [order] =
    orderNo === undefined
      ? await tx.query(LOCK_ORDER_OF_CHANNEL_BY_EXTERNAL, [channelId, externalOrderNo])
      : await tx.query(LOCK_ORDER_OF_CHANNEL_BY_NUMBER, [channelId, orderNo]);
  return order;
}

export const lockOrderByNumber = declareFind({
  name: 'lock-order',
  text: `select ${ORDER_FIELDS} from orders o where o.order_no = $1 for update`,
  parameters: ['bigint'],
  columns: ORDER_COLUMNS,
});

const LOCK_ORDERS = statement({
  name: 'lock-orders',
  text: `select ${ORDER_FIELDS} from orders o where o.order_no = any($1::bigint[]) order by o.order_no for update`,
  parameters: ['bigint[]'],
  columns: ORDER_COLUMNS,
});

/** Reads orders under their row locks. Locks them by ascending number, so that two batches cannot deadlock. */
export async function lockOrders(tx: Queryable, orderNos: readonly number[]): Promise<Map<number, Order>> {
  const orders = await tx.query(LOCK_ORDERS, [orderNos]);
  return new Map(orders.map((order) => [order.orderNo, order]));
}

const findOrderNoStatement = <Type extends 'bigint' | 'text'>(where: string, type: Type) =>
  statement({
    text: `select o.order_no as "orderNo" from orders o where ${where}`,
    parameters: ['bigint', type],
    columns: columns({ orderNo: 'bigint' }),
  });

const FIND_ORDER_NO_BY_NUMBER = findOrderNoStatement(BY_NUMBER, 'bigint');
const FIND_ORDER_NO_BY_EXTERNAL = findOrderNoStatement(BY_EXTERNAL, 'text');

export async function findOrderNo(
  db: Queryable,
  channelId: number,
  { orderNo, externalOrderNo }: OrderReference,
): Promise<number | undefined> {
  const [order] =
    orderNo === undefined
      ? await db.query(FIND_ORDER_NO_BY_EXTERNAL, [channelId, externalOrderNo])
      : await db.query(FIND_ORDER_NO_BY_NUMBER, [channelId, orderNo]);
  return order?.orderNo;
}

export interface OrderWithPayments {
  readonly order: Order;
  readonly payments: readonly Payment[];
  /** True if the user still has something to redeem. */
  readonly redeemable: boolean;
}

/** A period as an array, which takes a quarter less work than an object (measured). */
type PaymentTuple = readonly [
  cycleNo: number,
  status: PaymentStatus,
  expectAt: number,
  paidAt: number | null,
  amountCent: number,
  refundAmountCent: number,
  refundAt: number | null,
];

/**
 * SQL: reads an order with its periods. `$3` is the current time. A benefit that has expired by then is not redeemable.
 */
const SELECT_ORDER_WITH_PAYMENTS = `select ${ORDER_FIELDS},
  coalesce((select json_agg(json_build_array(p.cycle_no, p.status, ${epochMs('p.expect_at')}, ${epochMs('p.paid_at')}, p.amount_cent,
      p.refund_amount_cent, ${epochMs('p.refund_at')}) order by p.cycle_no)
    from payments p where p.order_no = o.order_no), '[]'::json) as payments,
  coalesce((select true from benefits b where b.order_no = o.order_no and b.status = 'ISSUED' and
    b.expires_at > to_timestamp($3::double precision / 1000) limit 1), false) as redeemable`;

function toOrderWithPayments({
  payments,
  redeemable,
  ...order
}: RowOf<typeof FIND_ORDER_BY_NUMBER>): OrderWithPayments {
  return { order, payments: payments.map(toPayment), redeemable };
}

function toPayment(tuple: PaymentTuple): Payment {
  const [cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt] = tuple;
  return { cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt };
}

const findOrderStatement = <Type extends 'bigint' | 'text'>(name: string, where: string, type: Type) =>
  statement({
    name,
    text: `${SELECT_ORDER_WITH_PAYMENTS} from orders o where ${where}`,
    parameters: ['bigint', type, 'double precision'],
    columns: joinColumns(
      ORDER_COLUMNS,
      columns({ payments: column<readonly PaymentTuple[]>('json'), redeemable: 'boolean' }),
    ),
  });

const FIND_ORDER_BY_NUMBER = findOrderStatement('find-order-by-number', BY_NUMBER, 'bigint');
const FIND_ORDER_BY_EXTERNAL = findOrderStatement('find-order-by-external', BY_EXTERNAL, 'text');

/** Finds an order with its periods in one statement, and so in one snapshot. */
export async function findOrderWithPayments(
  db: Queryable,
  channelId: number,
  { orderNo, externalOrderNo }: OrderReference,
  now: number,
): Promise<OrderWithPayments | undefined> {
  const [row] =
    orderNo === undefined
      ? await db.query(FIND_ORDER_BY_EXTERNAL, [channelId, externalOrderNo, now])
      : await db.query(FIND_ORDER_BY_NUMBER, [channelId, orderNo, now]);
  return row && toOrderWithPayments(row);
}

/** Returns the app id of the channel that has an order with this number. */
export const findOwnerOfExternalOrder = declareFind({
  text: `select (select c.app_id from channels c where c.channel_id = e.channel_id) as "appId"
     from external_orders e where key_of(e.external_order_no) = key_of($1::text)`,
  parameters: ['text'],
  columns: columns({ appId: 'text' }),
});

export const findPayments = declareList({
  name: 'find-payments',
  text: `select ${PAYMENT_FIELDS} from payments p where p.order_no = $1 order by p.cycle_no`,
  parameters: ['bigint'],
  columns: PAYMENT_COLUMNS,
});

/** Returns the payments of the periods that have begun. */
export const findPaymentsOfPeriods = declareList({
  text: `select p.order_no as "orderNo", ${PAYMENT_FIELDS}
     from unnest($1::bigint[], $2::integer[]) as n(order_no, cycle_no) join payments p using (order_no, cycle_no)`,
  parameters: ['bigint[]', 'integer[]'],
  columns: joinColumns(PAYMENT_COLUMNS, columns({ orderNo: 'bigint' })),
});

/** Stores the fields of `Order` that can change. The caller has held the order's lock since reading the order. */
export const storeOrder = declareWrite({
  name: 'store-order',
  text: `update orders set status = $2, success_at = ${fromEpochMs('$3')}, unsubscribed_at = ${fromEpochMs('$4')},
               cycle_no = $5, next_due_at = ${fromEpochMs('$6')}, paid_cycles = $7, paid_amount_cent = $8,
               refund_amount_cent = $9, latest_payment_status = $10, agreement_id = $11
             where order_no = $1`,
  parameters: {
    orderNo: 'bigint',
    status: column<OrderStatus>('text'),
    successAt: 'double precision?',
    unsubscribedAt: 'double precision?',
    cycleNo: 'integer',
    nextDueAt: 'double precision?',
    paidCycles: 'integer',
    paidAmountCent: 'bigint',
    refundAmountCent: 'bigint',
    latestPaymentStatus: column<PaymentStatus>('text?'),
    agreementId: 'bigint?',
  },
});

export const storePayment = declareWrite({
  name: 'store-payment',
  text: `update payments set status = $3, paid_at = ${fromEpochMs('$4')}, refund_amount_cent = $5,
               refund_at = ${fromEpochMs('$6')} where order_no = $1 and cycle_no = $2`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    status: column<PaymentStatus>('text'),
    paidAt: 'double precision?',
    refundAmountCent: 'bigint',
    refundAt: 'double precision?',
  },
});
