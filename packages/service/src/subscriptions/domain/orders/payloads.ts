import { formatTime, OrderPayload, StoredPaymentPayload } from '@perennial/wire';
import { createSerializer } from '../../../platform/answers/serialize.js';
import { paymentOrderNo } from './numbers.js';
import { nextPayTime, type Order, type Payment, timeOrNull } from './order.js';

const orderText = createSerializer(OrderPayload);
const paymentText = createSerializer(StoredPaymentPayload);

/** What events say of an order, as JSON. `completedPayloadSql` makes the same of the same schema. */
export function orderPayload(order: Order): string {
  return orderText({
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    createTime: formatTime(order.createdAt),
    orderStatus: order.status,
    orderSuccessTime: timeOrNull(order.successAt),
    periodType: order.periodType,
    period: order.period,
    totalCycles: order.totalCycles,
    totalPaidAmountCent: order.paidAmountCent,
    totalPaidCycles: order.paidCycles,
    totalRefundAmountCent: order.refundAmountCent,
    latestPaymentStatus: order.latestPaymentStatus,
    nextPayTime: nextPayTime(order),
  });
}

/** What events say of a period, as JSON. `paymentPayloadSql` makes the same of the same schema. */
export function paymentPayload(order: Order, payment: Payment): string {
  return paymentText({
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    paymentOrderNo: paymentOrderNo(order.orderNo, payment.cycleNo),
    channelUserId: order.channelUserId,
    cycleNo: payment.cycleNo,
    expectPayTime: formatTime(payment.expectAt),
    paidAt: timeOrNull(payment.paidAt),
    amountCent: payment.amountCent,
    refundTime: timeOrNull(payment.refundAt),
    refundAmountCent: payment.refundAmountCent,
    paymentStatus: payment.status,
    agreementShareFlag: order.shared,
  });
}
