import { money } from '../../operator/money.js';
import type { OrderView } from '../../operator/orders/order-view.js';
import { paragraphs, type Shown, shown } from '../frame/shown.js';
import { record, table } from '../frame/table.js';
import { alertTable } from './alert.js';

/** An order for people: its fields, then one table for each kind of thing that belongs to it. */
export function describeOrder(order: OrderView): Shown {
  const { payments, events, alerts } = order;
  return paragraphs([
    fields(order),
    section('Periods', periodTable(order)),
    ...(payments.some(({ attempts }) => attempts.length > 0) ? [section('Attempts', attemptTable(order))] : []),
    ...(payments.some(({ refunds }) => refunds.length > 0) ? [section('Refunds', refundTable(order))] : []),
    ...(payments.some(({ benefits }) => benefits.length > 0) ? [section('Benefits', benefitTable(order))] : []),
    section('Latest events', eventTable(events)),
    ...(alerts.length === 0 ? [] : [section('Alerts', alertTable(alerts))]),
  ]);
}

const section = (title: string, text: Shown) => shown`${title}\n${text}`;
const none = (text: string | null) => text ?? '';

function fields(order: OrderView): Shown {
  const { agreement } = order;
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
    ...(order.unsubscribeTime === null ? [] : [ended(order)]),
    ...(agreement === null
      ? []
      : [
          [
            'Agreement',
            `${agreement.agreementNo} ${agreement.agreementStatus} (${agreement.agreementSource})`,
          ] as const,
          ['Card', `…${agreement.bankCardTailNo} through ${agreement.paymentChannelCode}`] as const,
        ]),
    ...(order.channelAgreementRef === null ? [] : [['Agreement of the channel', order.channelAgreementRef] as const]),
  ]);
}

function ended({ unsubscribeTime, unsubscribeSource, unsubscribeReason }: OrderView): readonly [string, string] {
  const reason = unsubscribeReason === null ? '' : `: ${unsubscribeReason}`;
  return ['Unsubscribed', `${unsubscribeTime} by ${unsubscribeSource}${reason}`];
}

function periodTable({ payments }: OrderView): Shown {
  return table(
    ['PERIOD', 'NUMBER', 'STATUS', 'DUE', 'PAID', 'AMOUNT', 'REFUNDED'],
    payments.map((one) => [
      `${one.cycleNo}`,
      one.paymentOrderNo,
      one.paymentStatus,
      one.expectPayTime,
      none(one.paidAt),
      money(one.amountCent),
      money(one.refundAmountCent),
    ]),
  );
}

function attemptTable({ payments }: OrderView): Shown {
  return table(
    ['PERIOD', 'ATTEMPT', 'STATUS', 'STARTED', 'SETTLED', 'THROUGH', 'REASON'],
    payments.flatMap(({ attempts }) =>
      attempts.map((one) => [
        `${one.cycleNo}`,
        one.attemptNo,
        one.status,
        one.startedAt,
        none(one.settledAt),
        one.paymentChannelCode,
        none(one.reason),
      ]),
    ),
  );
}

function refundTable({ payments }: OrderView): Shown {
  return table(
    ['PERIOD', 'REFUND', 'STATUS', 'AMOUNT', 'STARTED', 'REFUNDED', 'BY', 'KEY', 'NOTE OR REASON'],
    payments.flatMap(({ refunds }) =>
      refunds.map((one) => [
        `${one.cycleNo}`,
        one.refundNo,
        one.status,
        money(one.amountCent),
        one.startedAt,
        none(one.refundedAt),
        one.requestedBy,
        none(one.key),
        one.reason ?? none(one.note),
      ]),
    ),
  );
}

function benefitTable({ payments }: OrderView): Shown {
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
        `${none(one.claimedAt)}${one.codeStatus === 'PENDING' ? ', waits for its code' : ''}`,
      ]),
    ),
  );
}

function eventTable(events: OrderView['events']): Shown {
  return table(
    ['WHEN', 'EVENT', 'PERIOD', 'STATUS'],
    events.map(({ occurredAt, eventType, cycleNo, cycleTo, status }) => [
      occurredAt,
      eventType,
      cycleNo === null ? '' : cycleTo === null ? `${cycleNo}` : `${cycleNo}-${cycleTo}`,
      status,
    ]),
  );
}
