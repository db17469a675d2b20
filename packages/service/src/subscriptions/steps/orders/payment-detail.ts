import { formatTime, type PaymentDetail } from '@perennial/wire';
import type { Queryable } from '../../../platform/db/database.js';
import { findPaymentOfCycle, formatTimeOrNull } from '../../domain/orders/order.js';
import { parsePaymentOrderNo } from '../../domain/orders/order-numbers.js';
import { findClaimsOfPeriod } from '../../store/benefits/claims-sql.js';
import { findOrderWithPayments } from '../../store/orders/orders-sql.js';

/** Returns one period of an order of the channel, with its claims, whether the period has begun or not. */
export async function findPaymentDetail(
  db: Queryable,
  channelId: number,
  paymentOrderNo: string,
  now: number,
): Promise<PaymentDetail | undefined> {
  const reference = parsePaymentOrderNo(paymentOrderNo);
  const found = reference && (await findOrderWithPayments(db, channelId, { orderNo: reference.orderNo }, now));
  const payment = found && findPaymentOfCycle(found.order, found.payments, reference.cycleNo);
  if (!found || !payment) return undefined;
  const { claims, usedCent } = await findClaimsOfPeriod(db, found.order.orderNo, payment.cycleNo);
  return {
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
  };
}
