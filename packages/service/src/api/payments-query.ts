import { formatTime, type PaymentDetail, type PaymentsQueryRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Clock } from '../platform/clock.js';
import { findPaymentOfCycle, formatTimeOrNull } from '../subscriptions/domain/orders/order.js';
import { parsePaymentOrderNo } from '../subscriptions/domain/orders/order-numbers.js';
import { findClaimsOfPeriod } from '../subscriptions/store/benefits/claims-sql.js';
import { findOrderWithPayments } from '../subscriptions/store/orders/orders-sql.js';

export function createPaymentsQueryAction(clock: Clock): Action<PaymentsQueryRequest, PaymentDetail> {
  return async ({ channel, database, answer }, { paymentOrderNo }) => {
    const reference = parsePaymentOrderNo(paymentOrderNo);
    const found =
      reference &&
      (await findOrderWithPayments(database, channel.channelId, { orderNo: reference.orderNo }, clock.now()));
    const payment = found && findPaymentOfCycle(found.order, found.payments, reference.cycleNo);
    if (!found || !payment) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    const { claims, usedCent } = await findClaimsOfPeriod(database, found.order.orderNo, payment.cycleNo);
    return answer({
      paymentOrderNo,
      orderNo: String(found.order.orderNo),
      externalOrderNo: found.order.externalOrderNo,
      cycleNo: payment.cycleNo,
      expectPayTime: formatTime(payment.expectAt),
      paidAt: formatTimeOrNull(payment.paidAt),
      amountCent: payment.amountCent,
      usedAmountCent: Math.min(usedCent, payment.amountCent),
      refundTime: formatTimeOrNull(payment.refundAt),
      refundAmountCent: payment.refundAmountCent,
      paymentStatus: payment.status,
      claimRecords: claims.map(({ claimedAt, ...claim }) => ({ ...claim, claimedAt: formatTime(claimedAt) })),
    });
  };
}
