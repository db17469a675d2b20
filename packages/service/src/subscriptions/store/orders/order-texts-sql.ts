import { PaymentRecord } from '@perennial/wire';
import {
  ADMISSION_COLUMNS,
  ADMISSION_PARAMETERS,
  type AdmissionAnswer,
  type AdmissionQuery,
  admissionSql,
  admitWith,
  toAdmissionAnswer,
} from '../../../catalog/channels/admission-sql.js';
import { toArrayText } from '../../../platform/db/array-text.js';
import type { Queryable } from '../../../platform/db/database.js';
import { columns, joinColumns, nullableColumns, type RowOf, statement } from '../../../platform/db/statement.js';
import { fromEpochMs, shanghaiText } from '../../../platform/db/time-sql.js';
import type { Order } from '../../domain/orders/order.js';
import { PERIODS_AT_A_TIME } from '../../domain/orders/order-text.js';
import { jsonSql } from '../events/json-sql.js';
import { ORDER_COLUMNS, ORDER_FIELDS, type OrderReference } from './orders-sql.js';

export interface OrderText {
  readonly order: Order;
  /**
   * The periods that have begun, as JSON objects separated by commas, as in paymentRecords of the API. Null if they are
   * too many for a statement that reads several orders. The caller then reads this order on its own.
   */
  readonly started: string | null;
  /** True if the user still has something to redeem. */
  readonly redeemable: boolean;
}

const PAYMENT_RECORD_SQL = jsonSql(PaymentRecord.properties, {
  paymentOrderNo: `p.order_no || lpad(p.cycle_no::text, 4, '0')`,
  cycleNo: 'p.cycle_no',
  expectPayTime: shanghaiText('p.expect_at'),
  paidAt: shanghaiText('p.paid_at'),
  amountCent: 'p.amount_cent',
  refundAmountCent: 'p.refund_amount_cent',
  paymentStatus: 'p.status',
});

/**
 * SQL: renders the periods that have begun, because rendering them in the node took a tenth of the cost of a query.
 * Null if the SQL condition `isFew` is false.
 */
export const startedPeriodsSql = (isFew: string) => `case when ${isFew} then coalesce((
  select string_agg(${PAYMENT_RECORD_SQL}, ',' order by p.cycle_no) from payments p where p.order_no = o.order_no), '') end`;

/**
 * SQL: true if something is left to redeem. Reads the newest benefits first, because old benefits have mostly expired.
 */
export const redeemableSql = (
  now: string,
) => `coalesce((select true from benefits b where b.order_no = o.order_no and b.status = 'ISSUED' and
  b.expires_at > ${fromEpochMs(now)} order by b.cycle_no desc, b.position desc limit 1), false)`;

/**
 * Admits requests and finds their orders. `offset 0` makes PostgreSQL look up each order on its own, whatever its
 * statistics say. Renders inside the look-up, so that nothing is rendered for an order that does not exist.
 */
const ADMIT_AND_FIND_ORDERS = statement({
  name: 'admit-and-find-orders',
  text: admissionSql({
    arrays: { order_no: '$10::bigint[]', external_order_no: '$11::text[]' },
    fields: ', o.*',
    join: (isGranted) => `left join lateral (
    select ${ORDER_FIELDS}, ${startedPeriodsSql(`o.cycle_no <= ${PERIODS_AT_A_TIME}`)} as started, ${redeemableSql('$12')} as redeemable
    from orders o where ${isGranted} and o.channel_id = c.channel_id and o.order_no = coalesce(c.order_no,
      (select e.order_no from external_orders e where key_of(e.external_order_no) = key_of(c.external_order_no)))
    offset 0) o on true`,
  }),
  parameters: [...ADMISSION_PARAMETERS, 'bigint[]', 'text[]', 'double precision'],
  columns: joinColumns(
    ADMISSION_COLUMNS,
    nullableColumns(joinColumns(ORDER_COLUMNS, columns({ started: 'text?', redeemable: 'boolean' }))),
  ),
});

/** A request to admit, with the order to read, if any. */
export interface AdmissionWithOrder extends AdmissionQuery {
  readonly reference: OrderReference | undefined;
}

export interface AdmittedWithOrder extends AdmissionAnswer {
  /** The order. Undefined if none was requested, the request was not granted, or the channel has no such order. */
  readonly found?: OrderText | undefined;
}

/** Admits requests and reads their orders in one statement. Reads an order only if its request is granted. */
export function admitAndFindOrders(
  db: Queryable,
  asked: readonly AdmissionWithOrder[],
  now: number,
): Promise<AdmittedWithOrder[]> {
  return admitWith(
    asked,
    (values, firsts) =>
      db.query(ADMIT_AND_FIND_ORDERS, [
        ...values,
        toArrayText(firsts, ({ reference }) => reference?.orderNo),
        firsts.map(({ reference }) => reference?.externalOrderNo ?? null),
        now,
      ]),
    (row): AdmittedWithOrder => ({ ...toAdmissionAnswer(row), found: toOrderText(row) }),
  );
}

type FoundRow = RowOf<typeof ADMIT_AND_FIND_ORDERS>;

function toOrderText(row: FoundRow): OrderText | undefined {
  if (row.orderNo === null) return undefined;
  return { order: row as Order, started: row.started, redeemable: row.redeemable === true };
}
