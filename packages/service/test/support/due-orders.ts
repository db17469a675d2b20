import type { Database } from '../../src/platform/db/database.js';

export interface DueOrder {
  readonly orderNo: number;
  readonly externalOrderNo: string;
  /** Null in mode B. */
  readonly agreementId: number | null;
}

export interface DueOrders {
  readonly channelId: number;
  readonly productCode: string;
  /**
   * The age of the orders in days. For a daily product this is also the number of due periods, unless the product has
   * fewer periods after the first.
   */
  readonly daysAgo: number;
  readonly paymentChannelCode: string | null;
  readonly orders: readonly DueOrder[];
}

/** Inserts orders in one statement: created `daysAgo` days ago, with only their first period paid. */
export async function insertDueOrders(database: Database, due: DueOrders): Promise<void> {
  const { channelId, productCode, daysAgo, paymentChannelCode, orders } = due;
  await database.query(
    `with new_orders as (
       insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
         period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
         paid_amount_cent, latest_payment_status, agreement_id, payment_channel_code, shared)
       select n."orderNo", $1, n."externalOrderNo", 'user', p.product_code,
         case when $4::text is null then 'CHANNEL_COLLECT' else 'SVC_DEDUCT' end, 'ACTIVE', p.period_type, p.period,
         p.total_cycles, p.amount_cent, at, at, 1, at + interval '1 day', 1, p.amount_cent,
         case when $4::text is null then 'BILLED' else 'SUCCESS' end, n."agreementId", $4, $4::text is not null
       from json_to_recordset($5::json) as n("orderNo" bigint, "externalOrderNo" text, "agreementId" bigint),
         products p, lateral (select date_trunc('second', now()) - $3::integer * interval '1 day') as t(at)
       where p.product_code = $2
       returning *)
     insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select order_no, 1, channel_id, latest_payment_status, created_at, created_at, amount_cent from new_orders`,
    [channelId, productCode, daysAgo, paymentChannelCode, JSON.stringify(orders)],
  );
}
