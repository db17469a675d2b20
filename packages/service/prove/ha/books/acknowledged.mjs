import { formatTime } from '@perennial/wire';
import { dueAt, paymentOrderNo, timeOrNull } from './events.mjs';
import { differences, doubled, lost, wrong } from './findings.mjs';
import { PAID, sum } from './state.mjs';

const isCreate = ({ endpoint }) => endpoint === 'orders/create';
const isAnswered = ({ answer }) => answer?.code === '0';
const of = (writes, endpoint) => writes.filter((write) => write.endpoint === endpoint);

/** Checks that every acknowledged write is stored, and that every stored order, refund and claim was requested. */
export function acknowledgedOf(state, { writes, ledger }) {
  return [
    ...createsOf(state, writes.filter(isCreate)),
    ...endingsOf(state, of(writes, 'orders/unsubscribe'), writes, ledger),
    ...refundsOf(state, of(writes, 'sandbox/payments/refund')),
    ...claimsOf(state, of(writes, 'redeem/claim')),
  ];
}

function createsOf({ orders, orphans }, creates) {
  const findings = orphans.map((what) => lost(`${what} are here, and the order is not`));
  const byExternal = new Map();
  const asked = new Set(creates.map(({ about }) => about));
  for (const order of orders.values()) {
    const { externalOrderNo } = order;
    if (byExternal.has(externalOrderNo)) findings.push(doubled(`${externalOrderNo} has two orders`));
    if (!asked.has(externalOrderNo)) findings.push(doubled(`nobody has asked for ${externalOrderNo}`));
    byExternal.set(externalOrderNo, order);
  }
  for (const { kind, about, answer } of creates.filter(isAnswered)) {
    const order = byExternal.get(about);
    if (order?.orderNo !== answer.data.orderNo) {
      findings.push(lost(`${kind} ${about} was answered, and its order is not here`));
    } else findings.push(...orderFindings(`${kind} ${about}`, answer.data, order));
  }
  return findings;
}

/**
 * Checks that acknowledged unsubscribes are stored. Also checks that an order is unsubscribed only because its channel
 * requested it, or because its agreement ended at the institution.
 */
function endingsOf({ orders }, unsubscribes, writes, { canceledAgreements }) {
  const findings = [];
  for (const { kind, about, answer } of unsubscribes.filter(isAnswered)) {
    const order = orders.get(about);
    if (order?.status !== 'UNSUBSCRIBED') findings.push(lost(`${kind} ${about} was answered, and the order goes on`));
    else findings.push(...orderFindings(`${kind} ${about}`, answer.data, order));
  }
  const ended = new Set(canceledAgreements);
  const asked = new Set(unsubscribes.map(({ about }) => about));
  const numbers = new Map(writes.map(({ about, body }) => [about, body?.sharedAgreement?.sharedAgreementNo]));
  for (const { orderNo, status, externalOrderNo, unsubscribeSource } of orders.values()) {
    if (status !== 'UNSUBSCRIBED') continue;
    const hasReason =
      unsubscribeSource === 'CHANNEL'
        ? asked.has(orderNo)
        : unsubscribeSource === 'AGREEMENT_INVALID' && ended.has(numbers.get(externalOrderNo));
    if (!hasReason) findings.push(wrong(`order ${orderNo} is UNSUBSCRIBED by ${unsubscribeSource}, without a reason`));
  }
  return findings;
}

/** For each acknowledged status, the statuses that can be stored later. */
const ORDER_AFTER = {
  INITIALIZING: ['INITIALIZING', 'ACTIVE', 'TERMINATED', 'UNSUBSCRIBED', 'COMPLETED'],
  ACTIVE: ['ACTIVE', 'UNSUBSCRIBED', 'COMPLETED'],
  TERMINATED: ['TERMINATED'],
  UNSUBSCRIBED: ['UNSUBSCRIBED'],
  COMPLETED: ['COMPLETED'],
};
const REFUNDS = ['REFUND_PART', 'REFUND_FULL'];
const DEBITED = ['PROCESSING', 'SUCCESS', ...REFUNDS, 'FAIL', 'FAIL_RETRY', 'CANCELED'];
const PERIOD_AFTER = {
  WAIT: ['WAIT', 'BILLED', ...DEBITED],
  PROCESSING: DEBITED,
  FAIL_RETRY: DEBITED,
  SUCCESS: ['SUCCESS', ...REFUNDS],
  REFUND_PART: REFUNDS,
  REFUND_FULL: ['REFUND_FULL'],
  BILLED: ['BILLED'],
  FAIL: ['FAIL'],
  CANCELED: ['CANCELED'],
};

function statusFinding(about, after, told, stored) {
  if (after[told]?.includes(stored)) return [];
  return [wrong(`${about} was answered ${told}, and is ${stored}`)];
}

/** Compares an acknowledged order with its stored state. */
function orderFindings(about, data, order) {
  const { orderStatus, paymentRecords, redeemUrl, ...told } = data;
  const paid = paymentRecords.filter(({ paymentStatus }) => PAID.has(paymentStatus));
  const wasActive = !['INITIALIZING', 'TERMINATED'].includes(orderStatus);
  const expected = {
    orderNo: order.orderNo,
    externalOrderNo: order.externalOrderNo,
    createTime: formatTime(order.createdAt),
    orderSuccessTime: wasActive ? timeOrNull(order.successAt) : null,
    periodType: order.periodType,
    period: order.period,
    totalCycles: order.totalCycles,
    totalPaidAmountCent: sum(paid, ({ amountCent }) => amountCent),
    totalRefundAmountCent: sum(paymentRecords, ({ refundAmountCent }) => refundAmountCent),
    unsubscribeTime: orderStatus === 'UNSUBSCRIBED' ? timeOrNull(order.unsubscribedAt) : null,
  };
  const known = Object.fromEntries(Object.keys(expected).map((name) => [name, told[name]]));
  return [
    ...statusFinding(`${about}, the order`, ORDER_AFTER, orderStatus, order.status),
    ...differences(`the answer to ${about}`, known, expected),
    ...nextPayTimeFindings(`the answer to ${about}`, data, order),
    ...paymentRecords.flatMap((record) => recordFindings(`${about}, period ${record.cycleNo}`, record, order)),
    ...(redeemUrl === null || new URL(redeemUrl).searchParams.get('orderNo') === order.orderNo
      ? []
      : [wrong(`the answer to ${about} has the link of another order`)]),
  ];
}

/**
 * Checks that the next payment is due by the calendar, or sooner for a retry, and that every active order with periods
 * left has a next payment.
 */
function nextPayTimeFindings(about, { orderStatus, nextPayTime, paymentRecords }, order) {
  if (orderStatus !== 'ACTIVE') return nextPayTime === null ? [] : [wrong(`${about}: nextPayTime is ${nextPayTime}`)];
  const started = paymentRecords.filter(({ paymentStatus }) => paymentStatus !== 'WAIT').length;
  const latest = formatTime(dueAt(order, started + 1));
  const isRight = nextPayTime === null ? started === order.totalCycles : nextPayTime <= latest;
  return isRight ? [] : [wrong(`${about}: nextPayTime is ${nextPayTime}, but must be ${latest} or earlier`)];
}

function recordFindings(about, record, order) {
  const { cycleNo, paymentStatus } = record;
  const payment = order.payments.find((one) => one.cycleNo === cycleNo);
  const stored = payment?.status ?? (order.status === 'UNSUBSCRIBED' ? 'CANCELED' : 'WAIT');
  const expected = {
    paymentOrderNo: paymentOrderNo(order, cycleNo),
    expectPayTime: formatTime(dueAt(order, cycleNo)),
    amountCent: payment?.amountCent ?? order.amountCent,
    paidAt: PAID.has(paymentStatus) ? timeOrNull(payment?.paidAt ?? null) : null,
  };
  const told = Object.fromEntries(Object.keys(expected).map((name) => [name, record[name]]));
  const isTooMuch = record.refundAmountCent > (payment?.refundAmountCent ?? 0);
  return [
    ...statusFinding(about, PERIOD_AFTER, paymentStatus, stored),
    ...differences(`the answer to ${about}`, told, expected),
    ...(isTooMuch ? [lost(`${about} was answered with ${record.refundAmountCent} cents refunded`)] : []),
  ];
}

const REFUND_AFTER = { PROCESSING: ['STARTED', 'SUCCESS', 'FAIL'], SUCCESS: ['SUCCESS'], FAIL: ['FAIL'] };

/**
 * Compares the refunds with their requests. The reason identifies a refund, because each request has a different
 * reason.
 */
function refundsOf({ orders }, requests) {
  const findings = [];
  const stored = new Map();
  const asked = new Set(requests.map(({ about }) => about));
  for (const order of orders.values()) {
    for (const refund of order.refunds) {
      if (stored.has(refund.note)) findings.push(doubled(`refund ${refund.note} is here twice`));
      if (!asked.has(refund.note)) findings.push(doubled(`nobody has asked for refund ${refund.refundNo}`));
      stored.set(refund.note, { order, refund });
    }
  }
  for (const { kind, about, body, answer } of requests.filter(isAnswered)) {
    const found = stored.get(about);
    const isThat = found && paymentOrderNo(found.order, found.refund.cycleNo) === body.paymentOrderNo;
    if (!isThat) findings.push(lost(`${kind} ${about} was answered, and is not here`));
    else {
      const { refund, order } = found;
      const { refundStatus } = answer.data;
      findings.push(...statusFinding(`${kind} ${about}`, REFUND_AFTER, refundStatus, refund.status));
      findings.push(...recordFindings(`${kind} ${about}`, answer.data, order));
      if (refund.amountCent !== body.amountCent) {
        findings.push(
          wrong(`${kind} ${about} is of ${refund.amountCent} cents, and ${body.amountCent} were asked for`),
        );
      }
    }
  }
  return findings;
}

/**
 * Checks that benefits whose claim succeeded are claimed, that benefits whose claim was refused are revoked, and that
 * no benefit is claimed without a request.
 */
function claimsOf({ orders }, claims) {
  const findings = [];
  const benefits = new Map(
    [...orders.values()]
      .flatMap((order) => order.benefits)
      .map((benefit) => [`${benefit.orderNo}/${benefit.cycleNo}/${benefit.position}`, benefit]),
  );
  const asked = new Set(claims.map(({ about }) => about));
  for (const { kind, about, answer } of claims) {
    const status = benefits.get(about)?.status ?? 'not here';
    if (answer?.code === '0' && status !== 'CLAIMED') {
      findings.push(lost(`${kind} ${about} was answered, and the benefit is ${status}`));
    }
    if (answer !== undefined && answer.code !== '0' && status !== 'REVOKED') {
      findings.push(wrong(`${kind} ${about} was answered "${answer.code}", and the benefit is ${status}`));
    }
  }
  for (const [about, { status }] of benefits) {
    if (status === 'CLAIMED' && !asked.has(about)) findings.push(doubled(`nobody has claimed benefit ${about}`));
  }
  return findings;
}
