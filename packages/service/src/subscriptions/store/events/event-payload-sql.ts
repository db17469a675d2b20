import { OrderPayload, StoredPaymentPayload } from '@perennial/wire';
import { shanghaiText } from '../../../platform/db/time-sql.js';
import { type FieldExpressions, jsonSql } from './json-sql.js';

/** SQL expressions of one period without refunds, and of its order. Times are `shanghaiText`. */
export type PaymentExpressions = Pick<
  FieldExpressions<typeof StoredPaymentPayload.properties>,
  | 'orderNo'
  | 'externalOrderNo'
  | 'channelUserId'
  | 'cycleNo'
  | 'expectPayTime'
  | 'paidAt'
  | 'amountCent'
  | 'paymentStatus'
  | 'agreementShareFlag'
>;

/** The same JSON as `paymentPayloadJson`. */
export function paymentPayloadSql(period: PaymentExpressions): string {
  return jsonSql(StoredPaymentPayload.properties, {
    ...period,
    paymentOrderNo: `${period.orderNo} * 10000 + ${period.cycleNo}`,
    refundTime: 'null',
    refundAmountCent: '0',
  });
}

/** The same JSON as `orderPayloadJson`, for the order called `o`, which has just been completed. */
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
