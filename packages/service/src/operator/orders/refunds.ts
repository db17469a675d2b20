import { formatTime } from '@perennial/wire';
import type { RefundOutcome } from '../../gateways/gateway.js';
import type { Queryable } from '../../platform/db/database.js';
import {
  findPaymentOfCycle,
  formatTimeOrNull,
  type Order,
  type Payment,
} from '../../subscriptions/domain/orders/order.js';
import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo, MAX_REFUNDS } from '../../subscriptions/domain/orders/refund-numbers.js';
import { DEBIT_DEADLINE_MS, FIRST_ASK_SECONDS } from '../../subscriptions/domain/payments/debit-policy.js';
import { findPaymentTransition } from '../../subscriptions/domain/payments/payment-states.js';
import { askRefund, rejectWrongRefundAmount, sendRefund } from '../../subscriptions/steps/payments/send-refund.js';
import { settleRefund } from '../../subscriptions/steps/payments/settle-refund.js';
import { findPayments } from '../../subscriptions/store/orders/orders-sql.js';
import {
  findPayingAttempt,
  findRefundsOfPeriod,
  insertRefund,
  type Refund,
} from '../../subscriptions/store/payments/refunds-sql.js';
import { recordAudit } from '../audit.js';
import { formatCents } from '../money.js';
import { type Changed, inTransaction, NotFoundError, OperatorError, type OperatorWithGateways } from '../operator.js';
import { quoted, requireInteger, requireName } from '../rules.js';
import { requireLockedOrder } from './orders.js';
import { type BenefitOfPeriod, findBenefitsOfOrder } from './orders-sql.js';

export interface RefundInput {
  readonly orderNo: string;
  readonly cycleNo: number;
  /** Unset: all that is left. */
  readonly amountCent?: number;
  /** A second request with the same key is the same refund. */
  readonly key?: string;
  readonly note?: string;
}

export interface RefundView {
  readonly refundNo: string;
  readonly orderNo: string;
  readonly cycleNo: number;
  readonly paymentOrderNo: string;
  readonly amountCent: number;
  /** STARTED: the institution has not answered yet, and is asked again. FAIL: it refused. */
  readonly status: Refund['status'];
  readonly reason: string | null;
  readonly key: string | null;
  readonly note: string | null;
  readonly requestedBy: string;
  readonly startedAt: string;
  readonly refundedAt: string | null;
}

export interface RefundedPeriod extends RefundView {
  /** The period after all of its refunds, with the benefits that were revoked and those that stay. */
  readonly payment: {
    readonly paymentStatus: string;
    readonly amountCent: number;
    readonly refundAmountCent: number;
    readonly benefits: readonly BenefitOfPeriod[];
  };
}

/** A refund and its period at one moment. */
interface RefundState {
  readonly refund: Refund;
  readonly payment: Payment;
  readonly benefits: readonly BenefitOfPeriod[];
}

/**
 * Refunds money, in mode A. The refund is stored first, then sent to the institution while no lock is held, then settled. A
 * result that is not known at the end of this call is found out by a job.
 */
export async function refundPayment(
  operator: OperatorWithGateways,
  input: RefundInput,
): Promise<Changed<RefundedPeriod>> {
  const { gateways } = operator;
  const asked = requireRefund(input);
  const begun = await inTransaction(operator, (tx) => beginRefund(operator, tx, asked));
  const { refund, isNew } = begun;
  if (refund.status !== 'STARTED') return toRefundedPeriod({ ...begun, changed: false });
  const heard = isNew ? await sendRefund(gateways, refund) : await askRefund(gateways, refund);
  return toRefundedPeriod((await storeOutcome(operator, refund, heard)) ?? { ...begun, changed: isNew });
}

/** Stores the result. Undefined when it is not known yet. */
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
    // The message has to say that the refund was sent.
    throw new OperatorError(
      `refund ${formatRefundNo(refund)} is sent, but its result could not be written down; a running service will see to it`,
      { cause },
    );
  }
}

/** If this process dies, the job asks the institution when the call must be over. */
const ASK_AFTER_SECONDS = DEBIT_DEADLINE_MS / 1000 + FIRST_ASK_SECONDS;

async function beginRefund(
  { actor, clock }: OperatorWithGateways,
  tx: Queryable,
  asked: RefundInput,
): Promise<RefundState & { readonly isNew: boolean }> {
  const { key, note } = asked;
  const { order, payment } = await lockPeriod(tx, asked);
  const period = { orderNo: order.orderNo, cycleNo: payment.cycleNo };
  const benefits = await findBenefitsOfOrder(tx, period.orderNo, period.cycleNo);
  const refunds = await findRefundsOfPeriod(tx, period);
  const same = key === undefined ? undefined : refunds.find((one) => one.key === key);
  if (same) {
    if (asked.amountCent !== undefined && asked.amountCent !== same.amountCent) {
      throw new OperatorError(
        `the key ${quoted(same.key ?? '')} stands for refund ${formatRefundNo(same)} of ${formatCents(same.amountCent)}`,
      );
    }
    return { refund: same, payment, benefits, isNew: false };
  }
  const amountCent = refundableAmount(order, payment, refunds, asked);
  const refundSeq = (refunds.at(-1)?.refundSeq ?? 0) + 1;
  if (refundSeq > MAX_REFUNDS) throw new OperatorError(`${periodName(period)} has had ${MAX_REFUNDS} refunds`);
  const attempt = await findPayingAttempt(tx, period);
  if (!attempt) throw new Error(`${periodName(period)} is ${payment.status}, and no attempt has paid for it`);
  const refund = await insertRefund(
    tx,
    {
      ...period,
      ...attempt,
      refundSeq,
      channelId: order.channelId,
      amountCent,
      key: key ?? null,
      note: note ?? null,
      requestedBy: actor,
      startedAt: clock.now(),
    },
    ASK_AFTER_SECONDS,
  );
  const detail = { refundNo: formatRefundNo(refund), cycleNo: payment.cycleNo, amountCent, key, note };
  await recordAudit(tx, { actor, action: 'order.refund', subject: String(order.orderNo), detail });
  return { refund, payment, benefits, isNew: true };
}

async function lockPeriod(tx: Queryable, asked: RefundInput): Promise<{ order: Order; payment: Payment }> {
  const order = await requireLockedOrder(tx, asked.orderNo);
  if (order.settlementMode !== 'SVC_DEDUCT') {
    throw new OperatorError(`order ${order.orderNo} is collected by its channel, which also makes its refunds`);
  }
  const payment = findPaymentOfCycle(order, await findPayments(tx, order.orderNo), asked.cycleNo);
  if (!payment) throw new NotFoundError(`order ${order.orderNo} has no period ${asked.cycleNo}`);
  return { order, payment };
}

/** The amount to refund. Refunds that are on their way count as refunded. */
function refundableAmount(order: Order, payment: Payment, refunds: readonly Refund[], asked: RefundInput): number {
  const name = periodName({ orderNo: order.orderNo, cycleNo: payment.cycleNo });
  if (payment.status === 'REFUND_FULL') throw new OperatorError(`${name} is refunded in full`);
  if (!findPaymentTransition(payment.status, 'refunded-in-part')) {
    throw new OperatorError(`${name} is ${payment.status}: only one that was paid can be refunded`);
  }
  const open = refunds.filter(({ status }) => status === 'STARTED');
  const openCent = open.reduce((sum, { amountCent }) => sum + amountCent, 0);
  const left = payment.amountCent - payment.refundAmountCent - openCent;
  const amountCent = asked.amountCent ?? left;
  if (left > 0 && amountCent <= left) return amountCent;
  const onTheWay =
    openCent === 0 ? '' : `, ${formatCents(openCent)} is on its way (${open.map(formatRefundNo).join(', ')})`;
  throw new OperatorError(
    `of ${name} ${formatCents(left)} is left to refund: ${formatCents(payment.refundAmountCent)} of ${formatCents(payment.amountCent)} ` +
      `is refunded${onTheWay}`,
  );
}

const MAX_AMOUNT_CENT = 100_000_000_000;

function requireRefund({ orderNo, cycleNo, amountCent, key, note }: RefundInput): RefundInput {
  return {
    orderNo,
    cycleNo: requireInteger('the period', cycleNo, 1, 9999),
    ...(amountCent === undefined
      ? {}
      : { amountCent: requireInteger('the amount in cents', amountCent, 1, MAX_AMOUNT_CENT) }),
    ...(key === undefined ? {} : { key: requireName('the key', key) }),
    ...(note === undefined ? {} : { note: requireName('the note', note) }),
  };
}

const periodName = ({ orderNo, cycleNo }: { orderNo: number; cycleNo: number }) =>
  `period ${cycleNo} of order ${orderNo}`;

/** Throws when the institution has refused the refund. */
function toRefundedPeriod({ refund, payment, benefits, changed }: Changed<RefundState>): Changed<RefundedPeriod> {
  if (refund.status === 'FAIL') {
    throw new OperatorError(
      `the institution refused refund ${formatRefundNo(refund)}: ${refund.reason || 'no reason given'}`,
    );
  }
  const { status: paymentStatus, amountCent, refundAmountCent } = payment;
  return { ...describeRefund(refund), payment: { paymentStatus, amountCent, refundAmountCent, benefits }, changed };
}

export function describeRefund(refund: Refund): RefundView {
  return {
    refundNo: formatRefundNo(refund),
    orderNo: String(refund.orderNo),
    cycleNo: refund.cycleNo,
    paymentOrderNo: formatPaymentOrderNo(refund.orderNo, refund.cycleNo),
    amountCent: refund.amountCent,
    status: refund.status,
    reason: refund.reason,
    key: refund.key,
    note: refund.note,
    requestedBy: refund.requestedBy,
    startedAt: formatTime(refund.startedAt),
    refundedAt: formatTimeOrNull(refund.refundedAt),
  };
}
