import type { Changed } from '../../operator/operator.js';
import type { AdvancedOrder } from '../../operator/orders/advance-order.js';
import type { RefundedPeriod } from '../../operator/orders/refunds/refunds.js';
import type { OrderView } from '../../operator/orders/show-order.js';
import { paragraphs, type SafeText, safeLines, safeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';
import type { MoneyText } from '../operation.js';
import { alertTable } from './alert-text.js';

/** Formats an order: its fields, then one table for each kind of related record. */
export function orderReport(order: OrderView, money: MoneyText): SafeText {
  const { payments, events, alerts } = order;
  return paragraphs([
    orderFields(order, money),
    section('Periods', periodTable(order, money)),
    ...(payments.some(({ attempts }) => attempts.length > 0) ? [section('Attempts', attemptTable(order))] : []),
    ...(payments.some(({ refunds }) => refunds.length > 0) ? [section('Refunds', refundTable(order, money))] : []),
    ...(payments.some(({ benefits }) => benefits.length > 0) ? [section('Benefits', benefitTable(order, money))] : []),
    section('Latest events', eventTable(events)),
    ...(alerts.length === 0 ? [] : [section('Alerts', alertTable(alerts))]),
  ]);
}

const section = (title: string, text: SafeText) => safeText`${title}\n${text}`;
const orEmpty = (text: string | null) => text ?? '';

function orderFields(order: OrderView, money: MoneyText): SafeText {
  const { agreement, unsubscribeReason } = order;
  const reason = unsubscribeReason === null ? '' : `: ${unsubscribeReason}`;
  return record([
    ['Order', order.orderNo],
    ['External number', order.externalOrderNo],
    ['Channel', order.appId],
    ['User', order.channelUserId],
    ['Product', order.productCode],
    ['Settlement mode', order.settlementMode],
    ['Status', order.orderStatus],
    ['Cycle', `${order.totalCycles} x ${order.period} ${order.periodType}, ${money(order.amountCent)} each`],
    ['Paid', money(order.totalPaidAmountCent)],
    ['Refunded', money(order.totalRefundAmountCent)],
    ['Created', order.createTime],
    ['Active since', order.orderSuccessTime ?? 'never'],
    ['Next payment', order.nextPayTime ?? 'none'],
    ['Unsubscribed', order.unsubscribeTime && `${order.unsubscribeTime} by ${order.unsubscribeSource}${reason}`],
    ['Agreement', agreement && `${agreement.agreementNo} ${agreement.agreementStatus} (${agreement.agreementSource})`],
    ['Card', agreement && `…${agreement.bankCardTailNo} through ${agreement.paymentChannelCode}`],
    ['Agreement of the channel', order.channelAgreementRef],
  ]);
}

function periodTable({ payments }: OrderView, money: MoneyText): SafeText {
  return table(
    ['PERIOD', 'NUMBER', 'STATUS', 'DUE', 'PAID', 'AMOUNT', 'REFUNDED'],
    payments.map((one) => [
      `${one.cycleNo}`,
      one.paymentOrderNo,
      one.paymentStatus,
      one.expectPayTime,
      orEmpty(one.paidAt),
      money(one.amountCent),
      money(one.refundAmountCent),
    ]),
  );
}

function attemptTable({ payments }: OrderView): SafeText {
  return table(
    ['PERIOD', 'ATTEMPT', 'STATUS', 'STARTED', 'SETTLED', 'THROUGH', 'REASON'],
    payments.flatMap(({ attempts }) =>
      attempts.map((one) => [
        `${one.cycleNo}`,
        one.attemptNo,
        one.status,
        one.startedAt,
        orEmpty(one.settledAt),
        one.paymentChannelCode,
        orEmpty(one.reason),
      ]),
    ),
  );
}

function refundTable({ payments }: OrderView, money: MoneyText): SafeText {
  return table(
    ['PERIOD', 'REFUND', 'STATUS', 'AMOUNT', 'STARTED', 'REFUNDED', 'BY', 'KEY', 'NOTE OR REASON'],
    payments.flatMap(({ refunds }) =>
      refunds.map((one) => [
        `${one.cycleNo}`,
        one.refundNo,
        one.status,
        money(one.amountCent),
        one.startedAt,
        orEmpty(one.refundedAt),
        one.requestedBy,
        orEmpty(one.key),
        one.reason ?? orEmpty(one.note),
      ]),
    ),
  );
}

function benefitTable({ payments }: OrderView, money: MoneyText): SafeText {
  return table(
    ['PERIOD', 'BENEFIT', 'NAME', 'VALUE', 'STATUS', 'EXPIRES', 'CLAIMED'],
    payments.flatMap(({ benefits }) =>
      benefits.map((one) => [
        `${one.cycleNo}`,
        one.benefitCode,
        one.name,
        money(one.faceValueCent),
        one.status,
        one.expiresAt,
        `${orEmpty(one.claimedAt)}${one.codeStatus === 'PENDING' ? ', waits for its code' : ''}`,
      ]),
    ),
  );
}

function eventTable(events: OrderView['events']): SafeText {
  return table(
    ['WHEN', 'EVENT', 'PERIOD', 'STATUS'],
    events.map(({ occurredAt, eventType, cycleNo, cycleTo, status }) => [
      occurredAt,
      eventType,
      cycleNo === null ? '' : cycleTo === null ? `${cycleNo}` : `${cycleNo}-${cycleTo}`,
      orEmpty(status),
    ]),
  );
}

export function refundText(
  { refundNo, amountCent, status, cycleNo: period, keepBenefits, payment, changed }: RefundedPeriod,
  money: MoneyText,
  { unsubscribe = false }: { readonly unsubscribe?: boolean },
): string | SafeText {
  const ended = unsubscribe ? ['the order is unsubscribed'] : [];
  if (status === 'STARTED') {
    return safeLines([
      `refund ${refundNo} of ${money(amountCent)} is pending: the institution has not answered yet, and will be queried again`,
      keepBenefits ? 'It revokes no benefits.' : 'Benefits are revoked once it has succeeded.',
      ...ended,
    ]);
  }
  const sums = `${money(payment.refundAmountCent)} of ${money(payment.amountCent)}`;
  return safeLines([
    `refund ${refundNo}: ${money(amountCent)} was ${status === 'OUTSIDE' ? 'recorded as refunded outside the service; nothing was sent' : 'refunded'}`,
    `period ${period} is ${payment.paymentStatus}, ${sums} refunded in total`,
    ...benefitLines(payment.benefits, money),
    ...ended,
    ...(changed ? [] : ['Nothing changed.']),
  ]);
}

/** Lists the benefits that a period's refunds revoked, and the benefits that remain. */
function benefitLines(benefits: RefundedPeriod['payment']['benefits'], money: MoneyText): string[] {
  if (benefits.length === 0) return [];
  const revoked = benefits.filter(({ status }) => status === 'REVOKED');
  const stay = benefits.filter(({ status }) => status !== 'REVOKED');
  const worth = (cents: number) => `(${money(cents)})`;
  const taken = revoked.map((one) => `${one.benefitCode} ${worth(one.faceValueCent)}`).join(', ');
  const left = stay.map((one) => `${one.benefitCode} ${one.status} ${worth(one.faceValueCent)}`).join(', ');
  return [`benefits revoked: ${taken || 'none'}`, ...(left === '' ? [] : [`benefits left: ${left}`])];
}

export function advanceText({ orderNo, orderStatus, nextPayTime, steps, changed }: Changed<AdvancedOrder>): SafeText {
  const end = safeText`order ${orderNo} is ${orderStatus}, next payment ${nextPayTime ?? 'none'}`;
  if (!changed) return safeText`nothing was due\n${end}`;
  const rows = steps.map((step) => [
    step.occurredAt,
    step.cycleNo === null ? '' : `${step.cycleNo}`,
    step.paymentStatus ?? '',
    step.orderStatus,
  ]);
  return safeText`${table(['WHEN', 'PERIOD', 'STATUS', 'ORDER'], rows)}\n\n${end}`;
}
