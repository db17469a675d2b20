import type { PaymentStatus } from '@perennial/wire';
import type { Queryable } from '../../../platform/db/database.js';
import { instant, ms } from '../../../platform/db/time-sql.js';
import type { Order, Payment } from '../../domain/orders/order.js';

/** For a select in which the table is called `o`. */
export const ORDER_COLUMNS = `o.order_no as "orderNo", o.channel_id as "channelId",
  o.external_order_no as "externalOrderNo", o.channel_user_id as "channelUserId", o.product_code as "productCode",
  o.settlement_mode as "settlementMode", o.status, o.period_type as "periodType", o.period,
  o.total_cycles as "totalCycles", o.amount_cent as "amountCent", ${ms('o.created_at')} as "createdAt",
  ${ms('o.success_at')} as "successAt", ${ms('o.unsubscribed_at')} as "unsubscribedAt", o.cycle_no as "cycleNo",
  ${ms('o.next_due_at')} as "nextDueAt", o.paid_cycles as "paidCycles", o.paid_amount_cent as "paidAmountCent",
  o.refund_amount_cent as "refundAmountCent", o.latest_payment_status as "latestPaymentStatus",
  o.agreement_id as "agreementId", o.shared`;

/** One order of the channel, by either of its numbers. */
export type OrderReference =
  | { readonly orderNo: number; readonly externalOrderNo?: undefined }
  | { readonly externalOrderNo: string; readonly orderNo?: undefined };

const BY_NUMBER = 'o.order_no = $2';
const BY_EXTERNAL = `o.order_no =
  (select e.order_no from external_orders e where key_of(e.external_order_no) = key_of($2::text))`;

/** Whose order it is, is part of the question: another channel's is as unknown as none. */
export function whichOrder(reference: OrderReference): { where: string; value: number | string } {
  return reference.orderNo !== undefined
    ? { where: `o.channel_id = $1 and ${BY_NUMBER}`, value: reference.orderNo }
    : { where: `o.channel_id = $1 and ${BY_EXTERNAL}`, value: reference.externalOrderNo };
}

/** Under its row lock: everything that changes an order takes it first. */
export async function lockOrder(
  tx: Queryable,
  channelId: number,
  reference: OrderReference,
): Promise<Order | undefined> {
  const { where, value } = whichOrder(reference);
  const [order] = await tx.query<Order>(`select ${ORDER_COLUMNS} from orders o where ${where} for update of o`, [
    channelId,
    value,
  ]);
  return order;
}

export async function lockOrderByNumber(tx: Queryable, orderNo: number): Promise<Order | undefined> {
  const [order] = await tx.query<Order>(
    { name: 'lock-order', text: `select ${ORDER_COLUMNS} from orders o where o.order_no = $1 for update` },
    [orderNo],
  );
  return order;
}

/** Under their row locks, in the order of their numbers, so that two batches never wait for each other in a circle. */
export async function lockOrders(tx: Queryable, orderNos: readonly number[]): Promise<Map<number, Order>> {
  const orders = await tx.query<Order>(
    {
      name: 'lock-orders',
      text: `select ${ORDER_COLUMNS} from orders o where o.order_no = any($1::bigint[]) order by o.order_no for update`,
    },
    [orderNos],
  );
  return new Map(orders.map((order) => [order.orderNo, order]));
}

export async function findOrderNo(
  db: Queryable,
  channelId: number,
  reference: OrderReference,
): Promise<number | undefined> {
  const { where, value } = whichOrder(reference);
  const [order] = await db.query<{ orderNo: number }>(`select o.order_no as "orderNo" from orders o where ${where}`, [
    channelId,
    value,
  ]);
  return order?.orderNo;
}

export interface FoundOrder {
  readonly order: Order;
  readonly payments: readonly Payment[];
  /** Whether the user still has something to redeem. */
  readonly redeemable: boolean;
}

/** A period by position: measured a quarter less for PostgreSQL to write and for us to read than with names. */
type PaymentTuple = readonly [
  cycleNo: number,
  status: PaymentStatus,
  expectAt: number,
  paidAt: number | null,
  amountCent: number,
  refundAmountCent: number,
  refundAt: number | null,
];

/** `$3` is the time: benefits that have expired by then are nothing to redeem. */
const FOUND = `select ${ORDER_COLUMNS},
  coalesce((select json_agg(json_build_array(p.cycle_no, p.status, ${ms('p.expect_at')}, ${ms('p.paid_at')}, p.amount_cent,
      p.refund_amount_cent, ${ms('p.refund_at')}) order by p.cycle_no)
    from payments p where p.order_no = o.order_no), '[]'::json) as payments,
  coalesce((select true from benefits b where b.order_no = o.order_no and b.status = 'ISSUED' and
    b.expires_at > to_timestamp($3::double precision / 1000) limit 1), false) as redeemable`;

type FoundRow = Order & { readonly payments: readonly PaymentTuple[]; readonly redeemable: boolean };

function found({ payments, redeemable, ...order }: FoundRow): FoundOrder {
  return { order, payments: payments.map(paymentOf), redeemable };
}

function paymentOf(tuple: PaymentTuple): Payment {
  const [cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt] = tuple;
  return { cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt };
}

/** The order with its periods, in one statement and so as of one moment. */
export async function findOrder(
  db: Queryable,
  channelId: number,
  reference: OrderReference,
  now: number,
): Promise<FoundOrder | undefined> {
  const { where, value } = whichOrder(reference);
  const name = `find-order-by-${reference.orderNo === undefined ? 'external' : 'number'}`;
  const [row] = await db.query<FoundRow>({ name, text: `${FOUND} from orders o where ${where}` }, [
    channelId,
    value,
    now,
  ]);
  return row && found(row);
}

export async function externalOrderExists(db: Queryable, externalOrderNo: string): Promise<boolean> {
  return (
    (
      await db.query('select from external_orders where key_of(external_order_no) = key_of($1::text)', [
        externalOrderNo,
      ])
    ).length > 0
  );
}

export async function findPayments(db: Queryable, orderNo: number): Promise<Payment[]> {
  return db.query<Payment>(
    {
      name: 'find-payments',
      text: `select p.cycle_no as "cycleNo", p.status, ${ms('p.expect_at')} as "expectAt", ${ms('p.paid_at')} as "paidAt",
               p.amount_cent as "amountCent", p.refund_amount_cent as "refundAmountCent", ${ms('p.refund_at')} as "refundAt"
             from payments p where p.order_no = $1 order by p.cycle_no`,
    },
    [orderNo],
  );
}

export interface OrderChange {
  readonly orderNo: number;
  readonly status: Order['status'];
  readonly successAt: number | null;
  readonly unsubscribedAt: number | null;
  readonly cycleNo: number;
  readonly nextDueAt: number | null;
  readonly paidCycles: number;
  readonly paidAmountCent: number;
  readonly refundAmountCent: number;
  readonly latestPaymentStatus: PaymentStatus | null;
  readonly agreementId: number | null;
}

/** Writes back what may have changed, under the lock that it was read with. */
export async function storeOrder(tx: Queryable, order: OrderChange): Promise<void> {
  await tx.query(
    {
      name: 'store-order',
      text: `update orders set status = $2, success_at = ${instant('$3')}, unsubscribed_at = ${instant('$4')},
               cycle_no = $5, next_due_at = ${instant('$6')}, paid_cycles = $7, paid_amount_cent = $8,
               refund_amount_cent = $9, latest_payment_status = $10, agreement_id = $11
             where order_no = $1`,
    },
    [
      order.orderNo,
      order.status,
      order.successAt,
      order.unsubscribedAt,
      order.cycleNo,
      order.nextDueAt,
      order.paidCycles,
      order.paidAmountCent,
      order.refundAmountCent,
      order.latestPaymentStatus,
      order.agreementId,
    ],
  );
}

export async function storePayment(tx: Queryable, orderNo: number, payment: Payment): Promise<void> {
  await tx.query(
    {
      name: 'store-payment',
      text: `update payments set status = $3, paid_at = ${instant('$4')}, refund_amount_cent = $5,
               refund_at = ${instant('$6')} where order_no = $1 and cycle_no = $2`,
    },
    [orderNo, payment.cycleNo, payment.status, payment.paidAt, payment.refundAmountCent, payment.refundAt],
  );
}
