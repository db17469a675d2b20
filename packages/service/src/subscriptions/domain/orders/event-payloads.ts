import { formatTime, OrderPayload, StoredPaymentPayload } from '@perennial/wire';
import { createSerializer } from '../../../platform/answers/serialize.js';
import { formatTimeOrNull, nextPayTime, type Order, type Payment } from './order.js';
import { formatPaymentOrderNo } from './order-numbers.js';

const renderOrderPayload = createSerializer(OrderPayload);
const renderPaymentPayload = createSerializer(StoredPaymentPayload);

/**
 * Renders the payload of an event about an order. `completedOrderPayloadSql` renders the payload of a completed order
 * in SQL.
 */
export function orderPayloadJson(order: Order): string {
  return renderOrderPayload({
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    createTime: formatTime(order.createdAt),
    orderStatus: order.status,
    orderSuccessTime: formatTimeOrNull(order.successAt),
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

/**
 * Renders the payload of an event about a period. `paymentPayloadSql` renders the payload of a period without refunds
 * in SQL.
 */
export function paymentPayloadJson(order: Order, payment: Payment): string {
  return renderPaymentPayload({
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    paymentOrderNo: formatPaymentOrderNo(order.orderNo, payment.cycleNo),
    channelUserId: order.channelUserId,
    cycleNo: payment.cycleNo,
    expectPayTime: formatTime(payment.expectAt),
    paidAt: formatTimeOrNull(payment.paidAt),
    amountCent: payment.amountCent,
    refundTime: formatTimeOrNull(payment.refundAt),
    refundAmountCent: payment.refundAmountCent,
    paymentStatus: payment.status,
    agreementShareFlag: order.shared,
  });
}
