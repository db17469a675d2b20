import { OrderPayload, StoredPaymentPayload, StoredUpcomingPayload } from '@perennial/wire';
import { shanghaiText } from '../../../platform/db/time-sql.js';
import { afterPeriodsSql } from '../../domain/orders/calendar.js';
import { type FieldExpressions, jsonSql } from './json-sql.js';

/** SQL expressions for the fields of a period without refunds, and of its order. Times come from `shanghaiText`. */
export type PaymentExpressions = Omit<
  FieldExpressions<typeof StoredPaymentPayload.properties>,
  'paymentOrderNo' | 'refundTime' | 'refundAmountCent'
>;

/** SQL: renders the same JSON as `paymentPayloadJson`. */
export function paymentPayloadSql(period: PaymentExpressions): string {
  return jsonSql(StoredPaymentPayload.properties, {
    ...period,
    paymentOrderNo: `${period.orderNo} * 10000 + ${period.cycleNo}`,
    refundTime: 'null',
    refundAmountCent: '0',
  });
}

/** SQL: renders the same JSON as `orderPayloadJson`, for an order named `o` that was just completed. */
export function completedOrderPayloadSql(o: string): string {
  return jsonSql(OrderPayload.properties, {
    orderNo: `${o}.order_no`,
    externalOrderNo: `${o}.external_order_no`,
    createTime: shanghaiText(`${o}.created_at`),
    orderStatus: `${o}.status`,
    orderSuccessTime: shanghaiText(`${o}.success_at`),
    periodType: `${o}.period_type`,
    period: `${o}.period`,
    totalCycles: `${o}.total_cycles`,
    totalPaidAmountCent: `${o}.paid_amount_cent`,
    totalPaidCycles: `${o}.paid_cycles`,
    totalRefundAmountCent: `${o}.refund_amount_cent`,
    latestPaymentStatus: `${o}.latest_payment_status`,
    nextPayTime: 'null',
  });
}

/** SQL: renders the notice about the next period of the order named `o`. Only SQL renders this payload. */
export function upcomingPayloadSql(o: string): string {
  return jsonSql(StoredUpcomingPayload.properties, {
    orderNo: `${o}.order_no`,
    externalOrderNo: `${o}.external_order_no`,
    channelUserId: `${o}.channel_user_id`,
    paymentOrderNo: `${o}.order_no * 10000 + ${o}.cycle_no + 1`,
    cycleNo: `${o}.cycle_no + 1`,
    expectPayTime: shanghaiText(afterPeriodsSql(`${o}.cycle_no`, o)),
    amountCent: `${o}.amount_cent`,
    settlementMode: `${o}.settlement_mode`,
    agreementShareFlag: `${o}.shared`,
  });
}
