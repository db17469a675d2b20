import { formatTime } from '@perennial/wire';
import { formatPaymentOrderNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { cycleOf, dueOf, nextPayTime, type OrderModel, paidPeriods, refundedCent } from './order.js';

const timeOrNull = (at: number | null) => (at === null ? null : formatTime(at));
const BENEFIT_DAYS_MS = 90 * 86_400_000;

/** Returns an order of the model as the interface shows it. Instead of the redemption link it has only `redeemable`. */
export function viewOf(order: OrderModel, orderNo: number, now: number) {
  const { product } = order;
  const rest = { ACTIVE: 'WAIT', UNSUBSCRIBED: 'CANCELED', INITIALIZING: '', COMPLETED: '', TERMINATED: '' }[
    order.status
  ];
  const waiting = rest === '' ? 0 : product.totalCycles - cycleOf(order);
  const record = (cycleNo: number) => ({
    paymentOrderNo: formatPaymentOrderNo(orderNo, cycleNo),
    cycleNo,
    expectPayTime: formatTime(dueOf(order, cycleNo)),
    amountCent: product.amountCent,
  });
  return {
    orderNo: String(orderNo),
    createTime: formatTime(order.createdAt),
    orderStatus: order.status,
    orderSuccessTime: timeOrNull(order.successAt),
    periodType: product.periodType,
    period: product.period,
    totalCycles: product.totalCycles,
    totalPaidAmountCent: paidPeriods(order).length * product.amountCent,
    totalRefundAmountCent: refundedCent(order),
    nextPayTime: nextPayTime(order),
    unsubscribeTime: timeOrNull(order.unsubscribedAt),
    redeemable:
      order.status !== 'UNSUBSCRIBED' &&
      order.periods.some(({ benefits }) =>
        benefits.some(({ revoked, issuedAt }) => !revoked && issuedAt + BENEFIT_DAYS_MS > now),
      ),
    paymentRecords: [
      ...order.periods.map(({ cycleNo, status, paidAt, refundCent }) => ({
        ...record(cycleNo),
        paidAt: timeOrNull(paidAt),
        refundAmountCent: refundCent,
        paymentStatus: status,
      })),
      ...Array.from({ length: waiting }, (_, index) => ({
        ...record(cycleOf(order) + index + 1),
        paidAt: null,
        refundAmountCent: 0,
        paymentStatus: rest,
      })),
    ],
  };
}

/** Returns an answer of the interface in the form that `viewOf` returns. */
export function seen({ externalOrderNo: _, redeemUrl, ...order }: Record<string, unknown>) {
  return { ...order, redeemable: redeemUrl !== null };
}
