import { formatTime } from '@perennial/wire';
import { countFinding, differences, wrong } from './findings.mjs';
import { PAID } from './state.mjs';

const DAY_MS = 86_400_000;

export const timeOrNull = (at) => (at === null ? null : formatTime(at));

/** Returns the time when a period is due. The stand sells only daily products, so no calendar is needed. */
export const dueAt = ({ createdAt, period }, cycleNo) => createdAt + (cycleNo - 1) * period * DAY_MS;

export const paymentOrderNo = ({ orderNo }, cycleNo) => `${orderNo}${String(cycleNo).padStart(4, '0')}`;

const OUTCOMES = new Set(['SUCCESS', 'FAIL', 'FAIL_RETRY', 'BILLED']);
const REFUNDED = new Set(['REFUND_PART', 'REFUND_FULL']);

/**
 * Compares an order's state with its events in both directions. Each state to be announced has exactly one event, and
 * each event carries what follows from the state and the earlier events. Does not use the service's code that builds
 * payloads, because that code is being checked.
 */
export function eventsOfOrder(order) {
  const told = replay(order);
  return [...told.findings, ...orderEvents(order, told), ...periodEvents(order, told)];
}

/**
 * Replays the events in the order in which they were written, and checks each event against the totals at that point.
 */
function replay(order) {
  const told = { findings: [], counts: new Map(), statuses: new Map(), paidCycles: 0, paidCent: 0, refundCent: 0 };
  const refunded = new Map();
  const unannounced = order.refunds.filter(({ status }) => status === 'SUCCESS');
  for (const event of order.events) {
    const { eventId, eventType, cycleNo, data } = event;
    const about = `event ${eventId} of order ${order.orderNo}`;
    const status = eventType === 'order.status.changed' ? data.orderStatus : data.paymentStatus;
    const key = eventType === 'order.status.changed' ? status : `${cycleNo} ${status}`;
    told.counts.set(key, (told.counts.get(key) ?? 0) + 1);
    if (eventType === 'order.status.changed') {
      told.findings.push(...differences(about, data, orderPayload(order, status, told)));
      continue;
    }
    if (eventType !== 'payment.status.changed') {
      told.findings.push(wrong(`${about} is a ${eventType}, which nobody has asked for`));
      continue;
    }
    const payment = order.payments.find((one) => one.cycleNo === cycleNo);
    const before = refunded.get(cycleNo) ?? { cent: 0, at: null };
    const after = REFUNDED.has(status) ? announce(unannounced, cycleNo, before, data) : before;
    refunded.set(cycleNo, after);
    const expected = paymentPayload(order, { cycleNo, payment, status, refund: after });
    told.findings.push(...differences(about, pushedData(order, event), expected));
    told.refundCent += after.cent - before.cent;
    if (status === 'SUCCESS' || status === 'BILLED') {
      told.paidCycles += 1;
      told.paidCent += payment?.amountCent ?? order.amountCent;
    }
    told.statuses.set(cycleNo, status);
  }
  return told;
}

/**
 * Returns the data that the push of a stored event carries, without the mobile. Periods that were voided together share
 * one stored event, which has the first period's data. The other periods have their own payment numbers and times.
 */
export function pushedData(order, { data, isVoided, cycleNo }) {
  if (!isVoided) return data;
  const own = { paymentOrderNo: paymentOrderNo(order, cycleNo), expectPayTime: formatTime(dueAt(order, cycleNo)) };
  return { ...data, cycleNo, ...own };
}

/** Returns the refunded sum at this event, and removes the announced refund from `unannounced`. */
function announce(unannounced, cycleNo, before, { refundAmountCent, refundTime }) {
  const sumWith = (refund) => ({
    cent: before.cent + refund.amountCent,
    at: Math.max(before.at ?? 0, refund.refundedAt),
  });
  const ofPeriod = unannounced.filter((refund) => refund.cycleNo === cycleNo);
  const found =
    ofPeriod.find((refund) => {
      const { cent, at } = sumWith(refund);
      return cent === refundAmountCent && formatTime(at) === refundTime;
    }) ?? ofPeriod[0];
  if (found === undefined) return before;
  unannounced.splice(unannounced.indexOf(found), 1);
  return sumWith(found);
}

function paymentPayload(order, { cycleNo, payment, status, refund }) {
  return {
    orderNo: order.orderNo,
    externalOrderNo: order.externalOrderNo,
    paymentOrderNo: paymentOrderNo(order, cycleNo),
    channelUserId: order.channelUserId,
    cycleNo,
    expectPayTime: formatTime(dueAt(order, cycleNo)),
    paidAt: PAID.has(status) ? timeOrNull(payment?.paidAt ?? null) : null,
    amountCent: payment?.amountCent ?? order.amountCent,
    refundTime: REFUNDED.has(status) ? timeOrNull(refund.at) : null,
    refundAmountCent: REFUNDED.has(status) ? refund.cent : 0,
    paymentStatus: status,
    agreementShareFlag: order.shared,
  };
}

function orderPayload(order, status, told) {
  return {
    orderNo: order.orderNo,
    externalOrderNo: order.externalOrderNo,
    createTime: formatTime(order.createdAt),
    orderStatus: status,
    orderSuccessTime: timeOrNull(order.successAt),
    periodType: order.periodType,
    period: order.period,
    totalCycles: order.totalCycles,
    totalPaidAmountCent: told.paidCent,
    totalPaidCycles: told.paidCycles,
    totalRefundAmountCent: told.refundCent,
    latestPaymentStatus: latestStatus(order, status, told),
    nextPayTime: status === 'ACTIVE' ? formatTime(dueAt(order, 2)) : null,
  };
}

/** Returns the status that the latest started period had when the order's event was written. */
function latestStatus(order, status, { statuses, counts }) {
  if (status === 'ACTIVE' || status === 'TERMINATED') return statuses.get(1);
  const { cycleNo } = order;
  const heard = [...OUTCOMES].reduce((total, outcome) => total + (counts.get(`${cycleNo} ${outcome}`) ?? 0), 0);
  const attempts = order.attempts.filter((one) => one.cycleNo === cycleNo).length;
  // The last attempt was still in flight: it has no event, and an ended order is not debited again.
  if (attempts > heard) return 'PROCESSING';
  const latest = statuses.get(cycleNo);
  return status === 'UNSUBSCRIBED' && latest === 'FAIL_RETRY' ? 'CANCELED' : latest;
}

/** For each status of an order, the statuses that must have been announced, once each. */
const ORDER_PATHS = {
  INITIALIZING: [],
  ACTIVE: ['ACTIVE'],
  TERMINATED: ['TERMINATED'],
  UNSUBSCRIBED: ['ACTIVE', 'UNSUBSCRIBED'],
  COMPLETED: ['ACTIVE', 'COMPLETED'],
};
const ORDER_STATUSES = Object.keys(ORDER_PATHS);

function orderEvents(order, { counts }) {
  const path = ORDER_PATHS[order.status];
  return ORDER_STATUSES.flatMap((status) =>
    countFinding(
      counts.get(status) ?? 0,
      path.includes(status) ? 1 : 0,
      `order ${order.orderNo} is ${order.status}, its events that say ${status}`,
    ),
  );
}

const PERIOD_STATUSES = ['SUCCESS', 'BILLED', 'FAIL', 'FAIL_RETRY', 'CANCELED', 'REFUND_PART', 'REFUND_FULL'];

function periodEvents(order, { counts }) {
  const findings = [];
  for (let cycleNo = 1; cycleNo <= order.totalCycles; cycleNo += 1) {
    const payment = order.payments.find((one) => one.cycleNo === cycleNo);
    const expected = payment ? ofPayment(order, payment) : ofUnstarted(order);
    const status = payment?.status ?? 'not started';
    for (const told of PERIOD_STATUSES) {
      const found = counts.get(`${cycleNo} ${told}`) ?? 0;
      const text = `period ${order.orderNo}/${cycleNo} is ${status}, its events that say ${told}`;
      findings.push(...countFinding(found, expected[told] ?? 0, text));
    }
  }
  return findings;
}

const ofUnstarted = ({ status }) => (status === 'UNSUBSCRIBED' ? { CANCELED: 1 } : {});

/** Returns how often each status of a period must have been announced, by the status that the period has now. */
function ofPayment(order, { cycleNo, status, amountCent }) {
  const failed = order.attempts.filter((one) => one.cycleNo === cycleNo && one.status === 'FAIL').length;
  const refunds = order.refunds.filter((one) => one.cycleNo === cycleNo && one.status === 'SUCCESS');
  const isWhole = refunds.reduce((cent, one) => cent + one.amountCent, 0) === amountCent;
  const ofRefunds = { REFUND_PART: refunds.length - (isWhole ? 1 : 0), REFUND_FULL: isWhole ? 1 : 0 };
  switch (status) {
    case 'BILLED':
      return { BILLED: 1 };
    case 'SUCCESS':
    case 'REFUND_PART':
    case 'REFUND_FULL':
      return { FAIL_RETRY: failed, SUCCESS: 1, ...ofRefunds };
    case 'FAIL':
      // After the last attempt the period failed; each earlier attempt was announced as FAIL_RETRY. The stand is too
      // short-lived for late retries.
      return { FAIL_RETRY: failed - 1, FAIL: 1 };
    case 'CANCELED':
      return { FAIL_RETRY: failed, CANCELED: 1 };
    default:
      return { FAIL_RETRY: failed };
  }
}
