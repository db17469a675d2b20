import { periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import { tellOrder, tellPayment, tellVoided } from './event-lines.js';
import {
  type Agreement,
  type Attempt,
  type Benefit,
  currentAgreement,
  cycleOf,
  dueOf,
  lastPeriod,
  nameOf,
  type OrderModel,
  openAttempt,
  type Period,
  type Product,
  type Refund,
  required,
  runsOn,
} from './order.js';

/**
 * The model of one order: pure, small, and written from the interface and the decisions, not from the tested code.
 * A function such as `settled` returns the order after one event, here a debit's result.
 */
export type Outcome =
  | { readonly kind: 'success'; readonly paidAt: number }
  | { readonly kind: 'declined'; readonly decline: 'retryable' | 'final' | 'agreement-invalid' };

export function created(mode: OrderModel['mode'], product: Product, at: number, agreement?: Agreement): OrderModel {
  const blank = { product, mode, createdAt: at, unsubscribedAt: null, attempts: [], refunds: [], told: [] };
  if (mode === 'B') {
    const billed: Period = { ...newPeriod(1), status: 'BILLED', paidAt: at, benefits: issued(product, at) };
    const order: OrderModel = {
      ...blank,
      status: 'ACTIVE',
      successAt: at,
      nextDueAt: afterFirst(product, at),
      periods: [billed],
      agreements: [],
    };
    return tellOrder(tellPayment(order, 1, at), at);
  }
  return {
    ...blank,
    status: 'INITIALIZING',
    successAt: null,
    nextDueAt: null,
    periods: [newPeriod(1)],
    attempts: [{ cycleNo: 1, tryNo: 1, agreement: 0, status: 'STARTED', retryBySchedule: false }],
    agreements: [required(agreement)],
  };
}

/**
 * Returns when the step after the first period is due. An order of one period is due immediately, because its
 * completion is a separate step.
 */
const afterFirst = (product: Product, at: number) => (product.totalCycles === 1 ? at : periodDueAt(at, product, 2));

/** Returns the order after its due step ran: it was billed, debited or completed, or its retry came too late. */
export function fallsDue(order: OrderModel, at: number): OrderModel {
  const { totalCycles } = order.product;
  const waits = lastPeriod(order).status === 'FAIL_RETRY';
  if (waits && isTooLate(order, cycleOf(order), at)) {
    return over(withPeriod(order, cycleOf(order), { status: 'FAIL' }), cycleOf(order), at);
  }
  const next = waits ? cycleOf(order) : cycleOf(order) + 1;
  if (next > totalCycles) return completed(order, at);
  if (order.mode !== 'B') return startDebit(order, next);
  const billed: Period = { ...newPeriod(next), status: 'BILLED', paidAt: at, benefits: issued(order.product, at) };
  const nextDueAt = next === totalCycles ? null : dueOf(order, next + 1);
  const after = tellPayment({ ...order, periods: [...order.periods, billed], nextDueAt }, next, at);
  return next === totalCycles ? completed(after, at) : after;
}

/** Returns true if a retry would be at or after the time of the next period. Such a retry is not made. */
const isTooLate = (order: OrderModel, cycleNo: number, at: number) => at >= dueOf(order, cycleNo + 1);

function startDebit(order: OrderModel, cycleNo: number): OrderModel {
  const isNew = cycleNo > cycleOf(order);
  const tryNo = order.attempts.filter((attempt) => attempt.cycleNo === cycleNo).length + 1;
  const periods = isNew
    ? [...order.periods, newPeriod(cycleNo)]
    : withPeriod(order, cycleNo, { status: 'PROCESSING' }).periods;
  const agreement = currentAgreement(order);
  const attempt: Attempt = { cycleNo, tryNo, agreement, status: 'STARTED', retryBySchedule: false };
  return { ...order, periods, attempts: [...order.attempts, attempt], nextDueAt: null };
}

function completed(order: OrderModel, at: number): OrderModel {
  return tellOrder({ ...order, status: 'COMPLETED', nextDueAt: null }, at);
}

/**
 * Applies the institution's result of the open debit. `agreementEnded` matters only for a first debit: true if the
 * order's agreement ended while the debit was in flight.
 */
export function settled(order: OrderModel, outcome: Outcome, at: number, agreementEnded = false): OrderModel {
  return withOutcome(order, required(openAttempt(order)), outcome, at, agreementEnded);
}

/**
 * Applies a late success of a failed attempt. If the period waits for a retry, it becomes paid and is not debited
 * again.
 */
export function paidLate(order: OrderModel, attempt: Attempt, paidAt: number, at: number): OrderModel {
  const waits = order.status === 'ACTIVE' && order.periods[attempt.cycleNo - 1]?.status === 'FAIL_RETRY';
  return waits ? withOutcome(order, attempt, { kind: 'success', paidAt }, at, false) : order;
}

function withOutcome(
  order: OrderModel,
  attempt: Attempt,
  outcome: Outcome,
  at: number,
  agreementEnded: boolean,
): OrderModel {
  const { cycleNo } = attempt;
  const isPaid = outcome.kind === 'success';
  const attempts = order.attempts.map(
    (one): Attempt => (one === attempt ? { ...one, status: isPaid ? 'SUCCESS' : 'FAIL' } : one),
  );
  const closed = { ...order, attempts };
  if (isPaid) {
    const paid = withPeriod(closed, cycleNo, {
      status: 'SUCCESS',
      paidAt: outcome.paidAt,
      benefits: issued(order.product, at),
    });
    if (order.status === 'INITIALIZING') return firstPaid(paid, at, agreementEnded);
    if (order.status === 'UNSUBSCRIBED') return tellPayment(paid, cycleNo, at);
    return over(paid, cycleNo, at);
  }
  if (order.status === 'INITIALIZING') {
    const failed: OrderModel = { ...withPeriod(closed, 1, { status: 'FAIL' }), status: 'TERMINATED' };
    return tellOrder(tellPayment(failed, 1, at), at);
  }
  const after = renewalFailed(closed, attempt, outcome.decline, at);
  const isGone = outcome.decline === 'agreement-invalid' && runsOn(order) === nameOf(agreementOf(order, attempt));
  return isGone && after.status === 'ACTIVE' ? unsubscribed(after, at) : after;
}

const agreementOf = (order: OrderModel, attempt: Attempt) => required(order.agreements[attempt.agreement]);

function renewalFailed(order: OrderModel, attempt: Attempt, decline: string, at: number): OrderModel {
  const { cycleNo } = attempt;
  const retryAt = order.status === 'ACTIVE' ? nextTryAt(order, attempt, decline, at) : undefined;
  if (retryAt !== undefined) {
    return tellPayment({ ...withPeriod(order, cycleNo, { status: 'FAIL_RETRY' }), nextDueAt: retryAt }, cycleNo, at);
  }
  const failed = withPeriod(order, cycleNo, { status: 'FAIL' });
  return order.status === 'UNSUBSCRIBED' ? tellPayment(failed, cycleNo, at) : over(failed, cycleNo, at);
}

function firstPaid(order: OrderModel, at: number, agreementEnded: boolean): OrderModel {
  const nextDueAt = afterFirst(order.product, order.createdAt);
  const active = { ...order, status: 'ACTIVE', successAt: at, nextDueAt } as const;
  const told = tellOrder(tellPayment(active, 1, at), at);
  return agreementEnded ? unsubscribed(told, at) : told;
}

/** Ends a period: plans the next one or completes the order. */
function over(order: OrderModel, cycleNo: number, at: number): OrderModel {
  if (cycleNo === order.product.totalCycles) {
    return tellOrder(tellPayment({ ...order, status: 'COMPLETED', nextDueAt: null }, cycleNo, at), at);
  }
  return tellPayment({ ...order, nextDueAt: dueOf(order, cycleNo + 1) }, cycleNo, at);
}

function nextTryAt(order: OrderModel, attempt: Attempt, decline: string, at: number): number | undefined {
  const isReplaced = attempt.agreement !== currentAgreement(order);
  // A failure on the current agreement is retried only if it is retryable. A failure on a former agreement says nothing
  // about the current one.
  if (!isReplaced && decline !== 'retryable') return undefined;
  const waits = !isReplaced || attempt.retryBySchedule;
  const delay = waits ? order.product.retryDelays[attempt.tryNo - 1] : 0;
  if (delay === undefined) return undefined;
  const retryAt = at + delay * 1000;
  return isTooLate(order, attempt.cycleNo, retryAt) ? undefined : retryAt;
}

/** Unsubscribes an active order. The effect does not depend on who requested it. */
export function unsubscribed(order: OrderModel, at: number): OrderModel {
  const open = order.periods.find(({ status }) => status === 'FAIL_RETRY');
  const voided = open ? withPeriod(order, open.cycleNo, { status: 'CANCELED' }) : order;
  const ended = tellOrder({ ...voided, status: 'UNSUBSCRIBED', unsubscribedAt: at, nextDueAt: null }, at);
  const told = open ? tellPayment(ended, open.cycleNo, at) : ended;
  return cycleOf(order) < order.product.totalCycles ? tellVoided(told, cycleOf(order) + 1, at) : told;
}

export function replaced(order: OrderModel, agreement: Agreement, retryNow: boolean, at: number): OrderModel {
  const attempts = order.attempts.map((one) =>
    one.status === 'STARTED' ? { ...one, retryBySchedule: !retryNow } : one,
  );
  const switched = { ...order, attempts, agreements: [...order.agreements, agreement] };
  const { status, cycleNo } = lastPeriod(order);
  const retries = status === 'FAIL_RETRY' && retryNow && !isTooLate(order, cycleNo, at);
  return retries ? startDebit(switched, cycleNo) : switched;
}

/**
 * Applies a new binding of the order's card: the order continues with the new agreement, and a planned retry keeps its
 * time.
 */
export function boundAgain(order: OrderModel, agreement: Agreement): OrderModel {
  const goesOn = order.status === 'ACTIVE' || order.status === 'INITIALIZING';
  return goesOn ? { ...order, agreements: [...order.agreements, agreement] } : order;
}

/** Makes the retry due now, on an operator's request. */
export function madeDue(order: OrderModel, at: number): OrderModel {
  return { ...order, nextDueAt: Math.min(required(order.nextDueAt), at) };
}

/** Returns the amount of a period that can still be refunded: 0 unless the period was paid. */
export function refundable(order: OrderModel, cycleNo: number): number {
  const period = order.periods.find((one) => one.cycleNo === cycleNo);
  if (order.mode === 'B' || period === undefined || !['SUCCESS', 'REFUND_PART'].includes(period.status)) return 0;
  const open = order.refunds.filter((refund) => refund.cycleNo === cycleNo && refund.status === 'STARTED');
  return order.product.amountCent - period.refundCent - open.reduce((sum, { amountCent }) => sum + amountCent, 0);
}

export function refundBegun(order: OrderModel, cycleNo: number, amountCent: number): OrderModel {
  const refundSeq = order.refunds.filter((refund) => refund.cycleNo === cycleNo).length + 1;
  return { ...order, refunds: [...order.refunds, { cycleNo, refundSeq, amountCent, status: 'STARTED' }] };
}

export function refundSettled(order: OrderModel, refund: Refund, refundedAt: number | null, at: number): OrderModel {
  const status = refundedAt === null ? 'FAIL' : 'SUCCESS';
  const refunds = order.refunds.map((one): Refund => (one === refund ? { ...one, status } : one));
  if (refundedAt === null) return { ...order, refunds };
  const { cycleNo } = refund;
  const period = required(order.periods[cycleNo - 1]);
  const refundCent = period.refundCent + refund.amountCent;
  const inFull = refundCent === order.product.amountCent;
  const after = withPeriod({ ...order, refunds }, cycleNo, {
    status: inFull ? 'REFUND_FULL' : 'REFUND_PART',
    refundCent,
    refundAt: Math.max(refundedAt, period.refundAt ?? 0),
    benefits: inFull ? period.benefits.map((one) => ({ ...one, revoked: true })) : revokedFor(period, refundCent),
  });
  return tellPayment(after, cycleNo, at);
}

/**
 * Revokes benefits whose face values fit into the refunded amount, the last first. Benefits revoked earlier use up a
 * part of the amount. Returns all benefits of the period.
 */
function revokedFor({ benefits }: Period, refundCent: number): Benefit[] {
  let left = benefits.reduce((rest, one) => (one.revoked ? rest - one.faceValueCent : rest), refundCent);
  return benefits
    .toReversed()
    .map((one) => {
      if (one.revoked || one.faceValueCent > left) return one;
      left -= one.faceValueCent;
      return { ...one, revoked: true };
    })
    .toReversed();
}

const newPeriod = (cycleNo: number): Period => ({
  cycleNo,
  status: 'PROCESSING',
  paidAt: null,
  refundCent: 0,
  refundAt: null,
  benefits: [],
});

const issued = (product: Product, issuedAt: number): Benefit[] =>
  product.benefits.map(({ faceValueCent }) => ({ faceValueCent, issuedAt, revoked: false }));

function withPeriod(order: OrderModel, cycleNo: number, changes: Partial<Period>): OrderModel {
  return {
    ...order,
    periods: order.periods.map((period) => (period.cycleNo === cycleNo ? { ...period, ...changes } : period)),
  };
}
