import { OrderPayload, StoredPaymentPayload } from '@perennial/wire';
import { shanghaiText } from '../../../platform/db/time-sql.js';
import { type FieldExpressions, jsonSql } from './json-sql.js';

/** Expressions of one period that nothing was given back of, and of its order. Times are text that is `written`. */
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

/** What `paymentPayload` is as JSON, made in SQL. */
export function paymentPayloadSql(period: PaymentExpressions): string {
  return jsonSql(StoredPaymentPayload.properties, {
    ...period,
    paymentOrderNo: `${period.orderNo} * 10000 + ${period.cycleNo}`,
    refundTime: 'null',
    refundAmountCent: '0',
  });
}

/** What `orderPayload` is as JSON, of the order called `o` that has just been completed. */
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
