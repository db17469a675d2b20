import { formatTime } from '@perennial/wire';
import type { RefundOutcome } from '../../../gateways/gateway.js';
import type { Queryable } from '../../../platform/db/database.js';
import { insertOutsideRefund } from '../../../reconciliation/differences-sql.js';
import {
  findPaymentOfCycle,
  formatTimeOrNull,
  type Order,
  type Payment,
} from '../../../subscriptions/domain/orders/order.js';
import { formatPaymentOrderNo } from '../../../subscriptions/domain/orders/order-numbers.js';
import { hasEnded } from '../../../subscriptions/domain/orders/order-states.js';
import {
  formatRefundNo,
  MAX_REFUNDS,
  type RefundReference,
} from '../../../subscriptions/domain/orders/refund-numbers.js';
import {
  isRefundable,
  nextRefundSeq,
  type PeriodToRefund,
  storeRefund,
  sumRefunds,
} from '../../../subscriptions/steps/payments/begin-refund.js';
import { askRefund, rejectWrongRefundAmount, sendRefund } from '../../../subscriptions/steps/payments/send-refund.js';
import { settleRefund } from '../../../subscriptions/steps/payments/settle-refund.js';
import { findPayments } from '../../../subscriptions/store/orders/orders-sql.js';
import { findRefundsOfPeriod, type Refund } from '../../../subscriptions/store/payments/refunds-sql.js';
import { recordAudit } from '../../audit/audit.js';
import { formatAmount } from '../../money.js';
import {
  type Changed,
  inTransaction,
  NotFoundError,
  OperatorError,
  type OperatorWithClock,
  type OperatorWithGateways,
  refusal,
} from '../../operator.js';
import { quoted, requireInteger, requireName } from '../../rules.js';
import { requireLockedOrder, unsubscribeLocked } from '../orders.js';
import { type BenefitOfPeriod, findBenefitsOfOrder } from '../orders-sql.js';

export interface RefundInput {
  readonly orderNo: string;
  readonly cycleNo: number;
  /** Unset: the whole rest. */
  readonly amountCent?: number | undefined;
  /** The idempotency key. */
  readonly key?: string | undefined;
  readonly note?: string | undefined;
  /** Revokes no benefits. Not for a refund of the whole remainder, unless it was made outside. Unset: false. */
  readonly keepBenefits?: boolean | undefined;
  /**
   * Records a refund that was made outside the service, for example by bank transfer. Nothing is sent, and no benefits are
   * revoked. Unset: false.
   */
  readonly outside?: boolean | undefined;
  /** Ends the order in the same transaction. Unset: false. */
  readonly unsubscribe?: boolean | undefined;
  /** The approval and its requester, if a second operator was asked. Unset: the acting operator is the requester. */
  readonly approval?: { readonly approvalId: string; readonly requestedBy: string } | undefined;
  /** If the refund needs a second operator, the reason for not asking one. */
  readonly withoutApproval?: string | undefined;
}

export type RefundView = ReturnType<typeof describeRefund>;
/**
 * A refund, and the state of its period after all refunds of that period, with the revoked and the remaining benefits.
 */
export type RefundedPeriod = ReturnType<typeof toRefundedPeriod>;

/** A refund and its period, read at the same moment. */
interface RefundState {
  readonly refund: Refund;
  readonly payment: Payment;
  readonly benefits: readonly BenefitOfPeriod[];
}

/**
 * Refunds money in the mode SVC_DEDUCT: stores the refund, sends it to the institution without holding a lock, and
 * stores the result. If the result is unknown, a job queries it later.
 */
export async function refundPayment(operator: OperatorWithGateways, input: RefundInput): Promise<RefundedPeriod> {
  const asked = requireRefund(input);
  const begun = await inTransaction(operator, async (tx) =>
    beginRefund(operator, tx, await lockPeriodToRefund(tx, asked), asked),
  );
  return finishRefund(operator, begun);
}

/** A stored refund: a new refund, or the refund of an earlier request with the same key. */
interface BegunRefund extends RefundState {
  /** False if an earlier request with the same idempotency key has created the refund. */
  readonly isNew: boolean;
}

/**
 * Sends a new refund to the institution, or queries the institution about an earlier refund. Returns the state of the
 * period after the result.
 */
export async function finishRefund(operator: OperatorWithGateways, begun: BegunRefund): Promise<RefundedPeriod> {
  const { gateways } = operator;
  const { refund, isNew } = begun;
  if (refund.status !== 'STARTED') return toRefundedPeriod({ ...begun, changed: isNew });
  const heard = isNew ? await sendRefund(gateways, refund) : await askRefund(gateways, refund);
  return toRefundedPeriod((await storeOutcome(operator, refund, heard)) ?? { ...begun, changed: isNew });
}

/** Stores the institution's result. Returns undefined if the institution has not decided. */
async function storeOutcome(
  { database, clock }: OperatorWithGateways,
  refund: Refund,
  heard: RefundOutcome,
): Promise<Changed<RefundState> | undefined> {
  try {
    const outcome = await rejectWrongRefundAmount(database, refund, heard);
    if (outcome.kind !== 'success' && outcome.kind !== 'refused') return undefined;
    return await database.transaction(async (tx) => ({
      ...(await settleRefund(tx, refund, outcome, clock.now())),
      benefits: await findBenefitsOfOrder(tx, refund.orderNo, refund.cycleNo),
    }));
  } catch (cause) {
    // Names the failure precisely: operators must learn that the refund was sent.
    throw refusal('refund-result-not-stored', OperatorError, {
      cause,
    })`refund ${formatRefundNo(refund)} was sent, but its result could not be stored; a running service will query it`;
  }
}

/** Locks the order and reads the period. */
export async function lockPeriodToRefund(
  tx: Queryable,
  { orderNo, cycleNo }: Pick<RefundInput, 'orderNo' | 'cycleNo'>,
): Promise<PeriodToRefund> {
  return requirePeriodToRefund(tx, await requireLockedOrder(tx, orderNo), cycleNo);
}

/**
 * Stores a new refund, and first ends the order if that was requested. Or returns the refund with the same key. The
 * caller has checked the request with `requireRefund`, and has locked the period.
 */
export async function beginRefund(
  { actor, clock, currency }: OperatorWithClock,
  tx: Queryable,
  found: PeriodToRefund,
  asked: RefundInput,
): Promise<BegunRefund> {
  const { key, note, keepBenefits = false, outside = false, approval, withoutApproval } = asked;
  const { order, payment, refunds } = found;
  const period = { orderNo: order.orderNo, cycleNo: payment.cycleNo };
  const same = findRefundOfKey(found, asked, currency);
  if (asked.unsubscribe && !same) await unsubscribeLocked(tx, { actor, clock }, order, note ?? null);
  const benefits = await findBenefitsOfOrder(tx, period.orderNo, period.cycleNo);
  if (same) return { refund: same, payment, benefits, isNew: false };
  const amountCent = requireRefundableAmount(found, asked.amountCent, currency);
  requireKeepable(found, amountCent, asked);
  if (nextRefundSeq(refunds) > MAX_REFUNDS)
    throw refusal(
      'refunds-used-up',
    )`period ${period.cycleNo} of order ${period.orderNo} already has ${MAX_REFUNDS} refunds, the maximum`;
  const refund = await storeRefund(tx, found, {
    amountCent,
    key: key ?? null,
    note: note ?? null,
    keepBenefits,
    outside,
    requestedBy: approval?.requestedBy ?? actor,
    startedAt: clock.now(),
    approvalId: approval ? Number(approval.approvalId) : null,
  });
  const detail = {
    refundNo: formatRefundNo(refund),
    cycleNo: payment.cycleNo,
    amountCent,
    key,
    note,
    ...(keepBenefits ? { keepBenefits } : {}),
    withoutApproval,
    ...approval,
  };
  if (outside) await insertOutsideRefund(tx, refund.paymentChannelCode, detail.refundNo, amountCent, refund.startedAt);
  const action = outside ? 'order.record-refund' : 'order.refund';
  await recordAudit(tx, { actor, action, subject: String(order.orderNo), detail });
  return { refund, payment, benefits, isNew: true };
}

/**
 * Returns the period with its refunds. Throws if the period does not exist, or if the channel collected the money
 * itself.
 */
export async function requirePeriodToRefund(db: Queryable, order: Order, cycleNo: number): Promise<PeriodToRefund> {
  if (order.settlementMode !== 'SVC_DEDUCT') {
    throw refusal(
      'refund-by-channel',
    )`order ${order.orderNo} is collected by its channel, which also makes its refunds`;
  }
  const payment = findPaymentOfCycle(order, await findPayments(db, order.orderNo), cycleNo);
  if (!payment) throw refusal('no-such-period', NotFoundError)`order ${order.orderNo} has no period ${cycleNo}`;
  return { order, payment, refunds: await findRefundsOfPeriod(db, { orderNo: order.orderNo, cycleNo }) };
}

/**
 * Returns the refund with the same idempotency key. Throws if it differs from the requested one. For an approved refund
 * ignores `keepBenefits`, because a node of the previous version does not know it and makes the refund without it.
 */
export function findRefundOfKey(
  { order, refunds }: PeriodToRefund,
  { key, amountCent, keepBenefits = false, outside = false, unsubscribe, approval }: RefundInput,
  currency: string | undefined,
): Refund | undefined {
  const same = key === undefined ? undefined : refunds.find((one) => one.key === key);
  if (same && amountCent !== undefined && amountCent !== same.amountCent) {
    throw refusal(
      'refund-key-used',
    )`the key ${quoted(same.key ?? '')} was already used for refund ${formatRefundNo(same)} of ${formatAmount(same.amountCent, currency)}`;
  }
  if (!same) return undefined;
  const isOther = (!approval && keepBenefits !== same.keepBenefits) || outside !== (same.status === 'OUTSIDE');
  if (isOther || wouldEnd(order, unsubscribe)) throw createOtherOptions(same.key ?? '');
  return same;
}

/**
 * Returns true if the request would end the order. A repeated request then differs from the first one, which would have
 * ended the order in the transaction that stored the refund or its approval.
 */
export const wouldEnd = ({ status }: Order, unsubscribe: boolean | undefined): boolean =>
  unsubscribe === true && !hasEnded(status);

/** Thrown if a request repeats an idempotency key with other options. */
export const createOtherOptions = (key: string): OperatorError =>
  refusal('refund-key-differs')`the key ${quoted(key)} was already used for a refund with other options`;

/**
 * Returns the amount to refund: the requested amount, or all that is left if no amount was requested. Throws if the
 * period cannot be refunded, or if too little is left.
 */
export function requireRefundableAmount(
  period: PeriodToRefund,
  askedCent: number | undefined,
  currency: string | undefined,
): number {
  const { order, payment } = period;
  const { orderNo } = order;
  const { cycleNo, status } = payment;
  if (status === 'REFUND_FULL')
    throw refusal('period-refunded')`period ${cycleNo} of order ${orderNo} was already refunded in full`;
  if (!isRefundable(payment)) {
    throw refusal(
      'period-not-paid',
    )`period ${cycleNo} of order ${orderNo} is ${status}: only a paid period can be refunded`;
  }
  const { open: unsettled, openCent, outsideCent, leftCent } = sumRefunds(period);
  const amountCent = askedCent ?? leftCent;
  if (leftCent > 0 && amountCent <= leftCent) return amountCent;
  const left = formatAmount(leftCent, currency);
  const refunded = formatAmount(payment.refundAmountCent + outsideCent, currency);
  const paid = formatAmount(payment.amountCent, currency);
  if (openCent === 0) {
    throw refusal(
      'refund-too-much',
    )`period ${cycleNo} of order ${orderNo} has ${left} left to refund: ${refunded} of ${paid} was refunded`;
  }
  const [open, numbers] = [formatAmount(openCent, currency), unsettled.map(formatRefundNo).join(', ')];
  throw refusal(
    'refund-too-much-besides',
  )`period ${cycleNo} of order ${orderNo} has ${left} left to refund: ${refunded} of ${paid} was refunded, ${open} is pending (${numbers})`;
}

/**
 * Throws if the refund should keep the benefits, but leaves nothing of the payment: a full refund revokes them. A refund
 * that was made outside the service always keeps them.
 */
export function requireKeepable(
  period: PeriodToRefund,
  amountCent: number,
  { keepBenefits, outside }: Pick<RefundInput, 'keepBenefits' | 'outside'>,
): void {
  if (!keepBenefits || outside || amountCent < sumRefunds(period).leftCent) return;
  throw refusal(
    'full-refund-revokes',
  )`a refund of all that is left of period ${period.payment.cycleNo} revokes its unclaimed benefits: refund less, or do not keep the benefits`;
}

const MAX_AMOUNT_CENT = 100_000_000_000;

const ifGiven = <T>(value: T | undefined, check: (value: T) => T) => (value === undefined ? undefined : check(value));

export function requireRefund(input: RefundInput): RefundInput {
  const { orderNo, cycleNo, amountCent, key, note, approval, withoutApproval } = input;
  const { keepBenefits, outside, unsubscribe } = input;
  return {
    ...{ orderNo, approval, keepBenefits, outside, unsubscribe },
    cycleNo: requireInteger('the period', cycleNo, 1, 9999),
    amountCent: ifGiven(amountCent, (cents) => requireInteger('the amount in cents', cents, 1, MAX_AMOUNT_CENT)),
    key: ifGiven(key, (text) => requireName('the key', text)),
    note: ifGiven(note, (text) => requireName('the note', text)),
    withoutApproval: ifGiven(withoutApproval, (text) => requireName('the note', text)),
  };
}

export function createRefundRefused(refund: RefundReference & Pick<Refund, 'reason'>): OperatorError {
  return refusal(
    'refund-refused',
  )`the institution refused refund ${formatRefundNo(refund)}: ${refund.reason || 'no reason given'}`;
}

/** Describes a refund and its period. Throws if the institution has refused the refund. */
function toRefundedPeriod({ refund, payment, benefits, changed }: Changed<RefundState>) {
  if (refund.status === 'FAIL') throw createRefundRefused(refund);
  const { status: paymentStatus, amountCent, refundAmountCent } = payment;
  return { ...describeRefund(refund), payment: { paymentStatus, amountCent, refundAmountCent, benefits }, changed };
}

export function describeRefund(refund: Refund) {
  return {
    refundNo: formatRefundNo(refund),
    orderNo: String(refund.orderNo),
    cycleNo: refund.cycleNo,
    paymentOrderNo: formatPaymentOrderNo(refund.orderNo, refund.cycleNo),
    amountCent: refund.amountCent,
    /**
     * STARTED: the result is unknown, and the institution is queried again. FAIL: the institution refused. OUTSIDE: it was
     * made outside the service.
     */
    status: refund.status,
    reason: refund.reason,
    key: refund.key,
    note: refund.note,
    keepBenefits: refund.keepBenefits,
    requestedBy: refund.requestedBy,
    startedAt: formatTime(refund.startedAt),
    refundedAt: formatTimeOrNull(refund.refundedAt),
    institutionRef: refund.institutionRef,
  };
}
