import { formatTime } from '@perennial/wire';
import { findAlertsAbout } from '../../alerts/alerts-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { formatTimeOrNull, nextPayTime, type Order } from '../../subscriptions/domain/orders/order.js';
import {
  formatAttemptNo,
  formatPaymentOrderNo,
  parseOrderNo,
} from '../../subscriptions/domain/orders/order-numbers.js';
import { findPayments } from '../../subscriptions/store/orders/orders-sql.js';
import { findRefundsOfOrders } from '../../subscriptions/store/payments/refunds-sql.js';
import { maskTexts, maskUserIds } from '../masking.js';
import type { Operator } from '../operator.js';
import { createNotFound } from '../rules.js';
import { findAgreement } from './agreements-sql.js';
import { readAtOneMoment } from './at-one-moment.js';
import {
  findAttempts,
  findBenefitsOfOrder,
  findLatestEvents,
  findOrderOfAnyChannel,
  type OrderOfAnyChannel,
} from './orders-sql.js';
import { describeRefund } from './refunds/refunds.js';

export type OrderView = Awaited<ReturnType<typeof readOrderView>>;
export type PeriodView = OrderView['payments'][number];

type ShowOrderInput =
  | { readonly orderNo: string; readonly externalOrderNo?: undefined }
  | { readonly externalOrderNo: string; readonly orderNo?: undefined };

const EVENTS_SHOWN = 20;

/**
 * Returns an order with its periods, latest events and alerts, from one snapshot. Contains no secret and no card
 * number: texts of the channel that look like one are masked, as in the console.
 */
export async function showOrder({ database }: Operator, input: ShowOrderInput): Promise<OrderView> {
  const order = await readAtOneMoment(database, async (tx) => readOrderView(tx, await requireOrder(tx, input)));
  return maskTexts(maskUserIds(order, 'admin'), 'admin');
}

/** Reads an order with all periods that have begun, or with the latest `maxPeriods`. */
export async function readOrderView(tx: Queryable, order: OrderOfAnyChannel, maxPeriods = Number.POSITIVE_INFINITY) {
  const agreement = order.agreementId === null ? undefined : await findAgreement(tx, order.agreementId);
  const agreementNo = agreement?.agreementNo ?? null;
  return {
    ...describeFields(order),
    periodType: order.periodType,
    period: order.period,
    orderSuccessTime: formatTimeOrNull(order.successAt),
    unsubscribeTime: formatTimeOrNull(order.unsubscribedAt),
    unsubscribeSource: order.unsubscribeSource,
    unsubscribeReason: order.unsubscribeReason,
    channelAgreementRef: order.channelAgreementRef,
    agreement: agreement ?? null,
    payments: await readPeriods(tx, order, Math.max(1, order.cycleNo - maxPeriods + 1)),
    events: await findLatestEvents(tx, order.orderNo, EVENTS_SHOWN),
    alerts: await findAlertsAbout(tx, { orderNo: order.orderNo, agreementNo }),
  };
}

export async function requireOrder(db: Queryable, input: ShowOrderInput): Promise<OrderOfAnyChannel> {
  if (input.orderNo === undefined) {
    const { externalOrderNo } = input;
    const order = await findOrderOfAnyChannel(db, { externalOrderNo });
    if (!order) throw createNotFound('order with the external number', externalOrderNo);
    return order;
  }
  const orderNo = parseOrderNo(input.orderNo);
  const order = orderNo === undefined ? undefined : await findOrderOfAnyChannel(db, { orderNo });
  if (!order) throw createNotFound('order', input.orderNo);
  return order;
}

/** Returns the fields of an order that are also shown in lists. */
export function describeFields(order: Order & { readonly appId: string }) {
  return {
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    appId: order.appId,
    channelUserId: order.channelUserId,
    productCode: order.productCode,
    settlementMode: order.settlementMode,
    orderStatus: order.status,
    totalCycles: order.totalCycles,
    amountCent: order.amountCent,
    totalPaidAmountCent: order.paidAmountCent,
    totalRefundAmountCent: order.refundAmountCent,
    createTime: formatTime(order.createdAt),
    nextPayTime: nextPayTime(order),
  };
}

/** Returns the started periods. */
async function readPeriods(tx: Queryable, { orderNo, cycleNo }: OrderOfAnyChannel, fromCycleNo: number) {
  const payments = (await findPayments(tx, orderNo)).filter((payment) => payment.cycleNo >= fromCycleNo);
  const attempts = groupByPeriod(await findAttempts(tx, orderNo, fromCycleNo));
  const refunds = groupByPeriod(await findRefundsOfOrders(tx, [orderNo]));
  const benefits = groupByPeriod(await findBenefitsOfOrder(tx, orderNo, fromCycleNo, cycleNo));
  return payments.map((payment) => ({
    paymentOrderNo: formatPaymentOrderNo(orderNo, payment.cycleNo),
    cycleNo: payment.cycleNo,
    paymentStatus: payment.status,
    expectPayTime: formatTime(payment.expectAt),
    paidAt: formatTimeOrNull(payment.paidAt),
    amountCent: payment.amountCent,
    refundTime: formatTimeOrNull(payment.refundAt),
    refundAmountCent: payment.refundAmountCent,
    attempts: attempts(payment.cycleNo).map((one) => ({
      attemptNo: formatAttemptNo(orderNo, one.cycleNo, one.tryNo),
      ...one,
    })),
    refunds: refunds(payment.cycleNo).map(describeRefund),
    benefits: benefits(payment.cycleNo),
  }));
}

export function groupByPeriod<T extends { readonly cycleNo: number }>(
  rows: readonly T[],
): (cycleNo: number) => readonly T[] {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.cycleNo);
    if (group) group.push(row);
    else groups.set(row.cycleNo, [row]);
  }
  return (cycleNo) => groups.get(cycleNo) ?? [];
}
