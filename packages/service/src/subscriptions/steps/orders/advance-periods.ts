import { type OrderStatus, type PaymentStatus, type RehearsedOutcome, Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Decline } from '../../../gateways/gateway.js';
import type { Gateways } from '../../../gateways/gateway-registry.js';
import type { Queryable, Transactional } from '../../../platform/db/database.js';
import { periodDueAt } from '../../domain/orders/calendar.js';
import type { Order } from '../../domain/orders/order.js';
import { formatAttemptNo } from '../../domain/orders/order-numbers.js';
import { RENEWAL_LEASE_SECONDS } from '../../domain/payments/debit-policy.js';
import { isWaitingForRetry } from '../../domain/payments/payment-states.js';
import { unsealInstitutionNo } from '../../store/agreements/card.js';
import { billOrder } from '../../store/orders/bill-orders-sql.js';
import { expireAndComplete } from '../../store/orders/expire-and-complete-sql.js';
import { noticeOrder } from '../../store/orders/notice-orders-sql.js';
import { endJourney, leaseOrderToJourney } from '../../store/orders/order-journeys-sql.js';
import { findAgreementIdOfOrder, findOrderStanding } from '../../store/orders/order-standing-sql.js';
import { lockOrderByNumber } from '../../store/orders/orders-sql.js';
import { type StartedRenewal, startRenewals } from '../../store/orders/start-renewals-sql.js';
import { lockAgreementsWithOrders, UNSUBSCRIBED_AS_LEFT_OVER } from '../ending/end-agreements.js';
import { endOrders } from '../ending/end-orders.js';
import type { FinalOutcome } from '../payments/apply-outcome.js';
import { createDebitRequest, rejectWrongAmount, sendDebit } from '../payments/send-debit.js';
import { type SettledDebit, settleDebit } from '../payments/settle-debits.js';
import { endTime, type Journey, nextCycleNo, nextStepTime } from './advance-journey.js';

export interface AdvanceDeps {
  readonly database: Transactional;
  readonly gateways: Gateways;
  /** Reads the order's channel. Called only if an institution must be called. */
  readonly channel: () => Promise<Channel>;
  /** Overrides the timeout of a debit in tests. */
  readonly debitDeadlineMs?: number;
}

/** One step of time travel, with its time on the order's own clock. */
export interface AdvanceStep {
  readonly at: number;
  /** The period of the step. Undefined if the order was only completed, or ended because its agreement had ended. */
  readonly payment: { readonly cycleNo: number; readonly status: PaymentStatus } | undefined;
  readonly orderStatus: OrderStatus;
}

/**
 * Leases the order to the journey for its next step. Throws IDEMPOTENCY_IN_PROGRESS if a different journey holds the
 * order.
 */
export async function holdOrder(tx: Queryable, { orderNo, id }: Journey): Promise<void> {
  if (await leaseOrderToJourney(tx, orderNo, id)) return;
  throw new Rejection(
    'IDEMPOTENCY_IN_PROGRESS',
    'another request is advancing this order: resend this one when the other has ended',
  );
}

/**
 * Advances an order in time: processes its periods one after another at their due times, with the same statements as
 * renewals. Stops at the journey's end, or earlier if the order has ended or a debit has no outcome yet. Each step has
 * its own transactions, so an interruption leaves the order consistent. `conclude` runs in the last transaction, before
 * a new journey can begin.
 */
export async function advancePeriods<End>(
  deps: AdvanceDeps,
  journey: Journey,
  outcomes: readonly RehearsedOutcome[],
  conclude: (tx: Queryable) => Promise<End>,
): Promise<{ readonly steps: readonly AdvanceStep[]; readonly end: End }> {
  const { orderNo, id } = journey;
  const steps: AdvanceStep[] = [];
  try {
    for (;;) {
      const taken = await deps.database.transaction(async (tx) => {
        const step = await takeStep(tx, journey, outcomes);
        if (step) return step;
        const end = await conclude(tx);
        await endJourney(tx, orderNo, id);
        return { end };
      });
      if ('end' in taken) return { steps, end: taken.end };
      steps.push('renewal' in taken ? await callInstitution(deps, taken) : taken);
    }
  } catch (error) {
    // If this transaction fails, the order becomes free when the lease expires.
    await deps.database.transaction((tx) => endJourney(tx, orderNo, id)).catch(() => undefined);
    throw error;
  }
}

interface InstitutionCall {
  readonly at: number;
  readonly renewal: StartedRenewal;
}

/**
 * Takes the next step. Waits for the order's lock, so that no due step is skipped. Returns the debit to send if an
 * institution must be called; the sandbox's own institution needs no call.
 */
async function takeStep(
  tx: Queryable,
  journey: Journey,
  outcomes: readonly RehearsedOutcome[],
): Promise<AdvanceStep | InstitutionCall | undefined> {
  const { orderNo } = journey;
  const order = await lockForStep(tx, orderNo, outcomes);
  await holdOrder(tx, journey);
  const standing = await findOrderStanding(tx, orderNo);
  const cycleNo = nextCycleNo(order);
  const outcome = outcomes[cycleNo - journey.from] ?? 'SUCCESS';
  const at = delayStep(nextStepTime(journey, order, standing), order, outcome);
  const until = at ?? endTime(journey);
  if (standing.hasNotices && until !== undefined) await noticeOrder(tx, orderNo, until);
  if (at === undefined) return undefined;
  const due = { kind: 'one-order', at, orderNo } as const;
  if (order.settlementMode === 'CHANNEL_COLLECT') {
    if (!(await billOrder(tx, orderNo, at))) throw createStuckError(order);
    return billedStep(order, at, cycleNo > order.totalCycles ? undefined : { cycleNo, status: 'BILLED' });
  }
  const [ended] = await expireAndComplete(tx, due, 1);
  if (ended) {
    const payment = ended.failed ? ({ cycleNo: ended.cycleNo, status: 'FAIL' } as const) : undefined;
    return { at, payment, orderStatus: ended.completed ? 'COMPLETED' : 'ACTIVE' };
  }
  const started = await startRenewals(tx, standing.paymentChannelCode ?? '', due, 1, RENEWAL_LEASE_SECONDS);
  const [renewal] = started.renewals;
  if (started.notBound.length > 0) {
    const [left = order] = await endOrders(tx, [order], UNSUBSCRIBED_AS_LEFT_OVER, at);
    return { at, payment: undefined, orderStatus: left.status };
  }
  if (!renewal) throw createStuckError(order);
  if (!standing.rehearsable) return { at, renewal };
  // The attempt stays open. The job for debits without a result asks the sandbox's institution about it.
  if (outcome === 'PENDING') return { at, payment: { cycleNo, status: 'PROCESSING' }, orderStatus: order.status };
  return settledStep(await settleDebit(tx, renewal, rehearsedOutcome(renewal, outcome, at), at), at);
}

/** Returns the time of a step. A retry that is to be missed is delayed until the next period falls due. */
function delayStep(at: number | undefined, order: Order, outcome: RehearsedOutcome): number | undefined {
  const isMissed = outcome === 'RETRY_MISSED' && isWaitingForRetry(order.latestPaymentStatus);
  return at === undefined || !isMissed ? at : periodDueAt(order.createdAt, order, order.cycleNo + 1);
}

/**
 * If an outcome ends the agreement, locks the order together with all ACTIVE and INITIALIZING orders on agreements with
 * the same institution number, by ascending number, to avoid deadlocks.
 */
async function lockForStep(tx: Queryable, orderNo: number, outcomes: readonly RehearsedOutcome[]): Promise<Order> {
  const agreementId = outcomes.includes('AGREEMENT_INVALID') ? await findAgreementIdOfOrder(tx, orderNo) : null;
  const order =
    agreementId === null
      ? await lockOrderByNumber(tx, orderNo)
      : (await lockAgreementsWithOrders(tx, [agreementId], [orderNo])).orders.get(orderNo);
  if (!order) throw new Error(`there is no order ${orderNo}`);
  return order;
}

/** Calls an institution behind a bridge. If the outcome stays unknown, the job queries it later, as for every debit. */
async function callInstitution(
  { database, gateways, channel, debitDeadlineMs }: AdvanceDeps,
  { at, renewal }: InstitutionCall,
): Promise<AdvanceStep> {
  const gateway = await gateways.of(renewal.paymentChannelCode);
  const orderChannel = await channel();
  const request = createDebitRequest(renewal, orderChannel, unsealInstitutionNo(orderChannel, renewal));
  const outcome = await rejectWrongAmount(database, renewal, await sendDebit(gateway, request, debitDeadlineMs));
  if (outcome.kind !== 'success' && outcome.kind !== 'declined') {
    return { at, payment: { cycleNo: renewal.cycleNo, status: 'PROCESSING' }, orderStatus: 'ACTIVE' };
  }
  return settledStep(await database.transaction((tx) => settleDebit(tx, renewal, outcome, at)), at);
}

type SettledOutcome = Exclude<RehearsedOutcome, 'PENDING'>;

const DECLINES: Readonly<Record<Exclude<SettledOutcome, 'SUCCESS'>, Decline>> = {
  FAIL_RETRY: 'retryable',
  RETRY_MISSED: 'retryable',
  FAIL: 'final',
  AGREEMENT_INVALID: 'agreement-invalid',
};

function rehearsedOutcome(renewal: StartedRenewal, outcome: SettledOutcome, at: number): FinalOutcome {
  if (outcome !== 'SUCCESS')
    return { kind: 'declined', decline: DECLINES[outcome], reason: 'rehearsed in the sandbox' };
  const number = formatAttemptNo(renewal.orderNo, renewal.cycleNo, renewal.tryNo);
  return { kind: 'success', paidAt: at, amountCent: renewal.amountCent, institutionRef: `sandbox-${number}` };
}

function billedStep(order: Order, at: number, payment: AdvanceStep['payment']): AdvanceStep {
  return { at, payment, orderStatus: nextCycleNo(order) >= order.totalCycles ? 'COMPLETED' : 'ACTIVE' };
}

const settledStep = ({ order, payment }: SettledDebit, at: number): AdvanceStep => ({
  at,
  payment: { cycleNo: payment.cycleNo, status: payment.status },
  orderStatus: order.status,
});

/** An error for a due order that no step advances. Without this error the loop would never end. */
const createStuckError = (order: Order) =>
  new Error(`order ${order.orderNo} is due and nothing could be done about it`);
