import {
  maskCardNumbers,
  type PaymentsRefundData,
  type PaymentsRefundRequest,
  type RefundStatus,
  Rejection,
} from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { RefundOutcome } from '../gateways/gateway.js';
import type { Queryable, Transactional } from '../platform/db/database.js';
import { findPaymentOfCycle } from '../subscriptions/domain/orders/order.js';
import { parsePaymentOrderNo } from '../subscriptions/domain/orders/order-numbers.js';
import { MAX_REFUNDS, type RefundReference } from '../subscriptions/domain/orders/refund-numbers.js';
import { findPaymentDetail } from '../subscriptions/steps/orders/payment-detail.js';
import {
  isRefundable,
  nextRefundSeq,
  type PeriodToRefund,
  storeRefund,
  sumRefunds,
} from '../subscriptions/steps/payments/begin-refund.js';
import { askRefund, rejectWrongRefundAmount, sendRefund } from '../subscriptions/steps/payments/send-refund.js';
import { settleRefund } from '../subscriptions/steps/payments/settle-refund.js';
import { findPayments, lockOrderOfChannel } from '../subscriptions/store/orders/orders-sql.js';
import { findRefund, findRefundsOfPeriod, type Refund } from '../subscriptions/store/payments/refunds-sql.js';
import type { ApiDeps } from './api-deps.js';

export type RefundPaymentDeps = Pick<ApiDeps, 'gateways' | 'clock'>;

/**
 * sandbox/payments/refund. In production operators make refunds, by these same steps. The refund is stored first, so
 * that a repeated request after a crash asks about that refund instead of making a second one.
 */
export function createPaymentsRefundAction(deps: RefundPaymentDeps): Action<PaymentsRefundRequest, PaymentsRefundData> {
  const { gateways, clock } = deps;
  return async ({ channel, database, once, answer }, request) => {
    const { paymentOrderNo, reason = '' } = request;
    const begin = () =>
      database.transaction(async (tx) => {
        const period = await requirePeriod(tx, channel.channelId, paymentOrderNo);
        const refund = await storeRefund(tx, period, {
          approvalId: null,
          amountCent: requireAmount(period, request.amountCent),
          key: null,
          note: maskCardNumbers(reason) || null,
          keepBenefits: false,
          requestedBy: `channel:${channel.appId}`,
          startedAt: clock.now(),
        });
        const { orderNo, cycleNo, refundSeq } = refund;
        await once.begin(tx, JSON.stringify({ orderNo, cycleNo, refundSeq }));
        return refund;
      });
    const isNew = once.interrupted === undefined;
    const refund = isNew ? await begin() : await requireStored(database, JSON.parse(once.interrupted));
    // If a job has already closed the refund, the institution is not called again.
    const outcome = refund.status === 'STARTED' ? await refundAtInstitution(database, refund, isNew) : undefined;
    return database.transaction(async (tx) => {
      const { status, reason: refundFailReason } = await settleIfKnown(tx, refund, outcome, clock.now());
      const detail = await findPaymentDetail(tx, channel.channelId, paymentOrderNo, clock.now());
      if (!detail) throw new Error(`period ${paymentOrderNo} was refunded but does not exist`);
      return once.finish(tx, answer({ ...detail, refundStatus: REFUND_STATUS[status], refundFailReason }));
    });
  };

  async function refundAtInstitution(db: Transactional, refund: Refund, isNew: boolean): Promise<RefundOutcome> {
    const heard = isNew ? await sendRefund(gateways, refund) : await askRefund(gateways, refund);
    return rejectWrongRefundAmount(db, refund, heard);
  }
}

async function requirePeriod(tx: Queryable, channelId: number, paymentOrderNo: string): Promise<PeriodToRefund> {
  const reference = parsePaymentOrderNo(paymentOrderNo);
  const order = reference && (await lockOrderOfChannel(tx, channelId, { orderNo: reference.orderNo }));
  const payment = order && findPaymentOfCycle(order, await findPayments(tx, order.orderNo), reference.cycleNo);
  if (!order || !payment) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  if (order.settlementMode !== 'SVC_DEDUCT') {
    throw new Rejection('SETTLEMENT_MODE_MISMATCH', 'the order is in mode B: the channel makes its refunds');
  }
  return { order, payment, refunds: await findRefundsOfPeriod(tx, reference) };
}

function requireAmount(period: PeriodToRefund, asked: number | undefined): number {
  const { payment, refunds } = period;
  if (payment.status !== 'REFUND_FULL' && !isRefundable(payment)) {
    throw new Rejection('PARAM_INVALID', `the period is ${payment.status}: only a paid period can be refunded`);
  }
  const { leftCent } = sumRefunds(period);
  const amountCent = asked ?? leftCent;
  if (leftCent <= 0 || amountCent > leftCent) {
    throw new Rejection('PARAM_INVALID', `only ${Math.max(0, leftCent)} cents of the period are left to refund`);
  }
  if (nextRefundSeq(refunds) > MAX_REFUNDS) {
    throw new Rejection('PARAM_INVALID', `the period already has ${MAX_REFUNDS} refunds, the maximum`);
  }
  return amountCent;
}

async function requireStored(db: Queryable, reference: RefundReference): Promise<Refund> {
  const refund = await findRefund(db, reference);
  if (!refund) throw new Error('a refund was begun but does not exist');
  return refund;
}

/**
 * Settles the refund if its outcome is known. Otherwise a job queries the institution later, and then sends the event.
 */
async function settleIfKnown(
  tx: Queryable,
  refund: Refund,
  outcome: RefundOutcome | undefined,
  now: number,
): Promise<Refund> {
  if (outcome?.kind !== 'success' && outcome?.kind !== 'refused') return refund;
  return (await settleRefund(tx, refund, outcome, now)).refund;
}

const REFUND_STATUS: Readonly<Record<Refund['status'], RefundStatus>> = {
  STARTED: 'PROCESSING',
  SUCCESS: 'SUCCESS',
  FAIL: 'FAIL',
  OUTSIDE: 'SUCCESS',
};
