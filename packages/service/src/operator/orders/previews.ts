import type { Static } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import { findPositionsToRevoke } from '../../subscriptions/steps/benefits/revoke-benefits.js';
import { planEndings } from '../../subscriptions/steps/ending/end-orders.js';
import { nextRefundSeq, type PeriodToRefund, sumRefunds } from '../../subscriptions/steps/payments/begin-refund.js';
import { applyRefund } from '../../subscriptions/steps/payments/settle-refund.js';
import type { UnsubscribedRow } from '../../subscriptions/store/orders/unsubscribe-orders-sql.js';
import { OperatorError, type OperatorWithClock } from '../operator.js';
import type { preview, previewQuery } from '../schemas/orders.js';
import { readAtOneMoment } from './at-one-moment.js';
import { requireUnsubscribable } from './orders.js';
import { findUnclaimedBenefits, type UnclaimedBenefit } from './orders-sql.js';
import { requireKeepable, requirePeriodToRefund, requireRefund, requireRefundableAmount } from './refunds/refunds.js';
import { needsSecondPerson, type RefundLimits } from './refunds/second-person.js';
import { findWaitingOf, requireAskableAmount } from './refunds/waiting-refunds.js';
import { requireOrder } from './show-order.js';
import { findSurroundings } from './timeline/timeline-sql.js';

/** The effects that an action would have, computed by the same rules as the action. Nothing is written. */
export type Preview = Static<typeof preview>;

export const NO_EFFECTS: Preview = {
  refunds: 0,
  refundCent: 0,
  outside: false,
  unsubscribes: false,
  notCollectedCent: 0,
  benefitsRevoked: [],
  mayKeepBenefits: false,
  periodsVoided: 0,
  events: [],
  needsApproval: false,
  waiting: [],
  refusal: null,
};

export async function previewUnsubscribe(
  { database, clock }: OperatorWithClock,
  { orderNo }: { readonly orderNo: string },
): Promise<Preview> {
  return readAtOneMoment(database, async (tx) => {
    const order = await requireOrder(tx, { orderNo });
    return refusable(async () => {
      const { events, ...ending } = await planUnsubscribe(tx, order, clock.now());
      return { ...NO_EFFECTS, ...ending, events: countByType(events) };
    });
  });
}

/** Returns the effects of an unsubscribe. Throws if the order cannot be unsubscribed. */
async function planUnsubscribe(tx: Queryable, order: Order, now: number) {
  requireUnsubscribable(order);
  const [ending] = await planEndings(tx, [order], now);
  if (!ending) return { events: [] };
  const { hearsOfVoidedPeriods } = await findSurroundings(tx, order.orderNo);
  const events = [...ending.events, ...(hearsOfVoidedPeriods ? ending.voidedEvents : [])];
  return { unsubscribes: true, ...sumVoidedPeriods(ending), events };
}

/** Counts the open period and the periods that have not begun, and sums their amounts. */
export function sumVoidedPeriods({ order, payment }: UnsubscribedRow) {
  const unstarted = order.totalCycles - order.cycleNo;
  return {
    periodsVoided: (payment ? 1 : 0) + unstarted,
    notCollectedCent: (payment?.amountCent ?? 0) + unstarted * order.amountCent,
  };
}

/**
 * Previews a refund, with an unsubscribe if that is requested too, and whether it exceeds one of the limits above which a
 * second operator is needed.
 */
export async function previewRefund(
  operator: OperatorWithClock,
  {
    keepBenefits: isKept,
    outside: isOutside,
    unsubscribe,
    ...input
  }: Static<typeof previewQuery> & { readonly orderNo: string; readonly cycleNo: number },
  limits: RefundLimits,
): Promise<Preview> {
  const { database, clock, currency } = operator;
  return readAtOneMoment(database, async (tx) => {
    const order = await requireOrder(tx, { orderNo: input.orderNo });
    return refusable(async () => {
      const outside = isOutside === 'true';
      const asked = requireRefund({ ...input, keepBenefits: isKept === 'true', outside });
      const period = await requirePeriodToRefund(tx, order, asked.cycleNo);
      const waiting = (await findWaitingOf(tx, period)).filter(({ approvalId }) => approvalId !== input.approvalId);
      // An approved refund is made with the requested amount, even if further refunds wait for approval.
      const amountCent =
        input.approvalId === undefined
          ? requireAskableAmount(period, asked.amountCent, waiting, currency)
          : requireRefundableAmount(period, asked.amountCent, currency);
      requireKeepable(period, amountCent, asked);
      const benefits = await findUnclaimedBenefits(tx, [order.orderNo], [asked.cycleNo]);
      const settle = (keepBenefits: boolean) =>
        outside
          ? { events: [], revoked: [] }
          : planRefund(period, benefits, { amountCent, keepBenefits, now: clock.now() });
      const { events, revoked } = settle(asked.keepBenefits === true);
      const ended = unsubscribe ? await planUnsubscribe(tx, order, clock.now()) : { events: [] };
      return {
        ...NO_EFFECTS,
        ...ended,
        refunds: 1,
        refundCent: amountCent,
        outside,
        benefitsRevoked: countNames(revoked),
        mayKeepBenefits: amountCent < sumRefunds(period).leftCent && settle(false).revoked.length > 0,
        events: countByType([...ended.events, ...events]),
        needsApproval: await needsSecondPerson(tx, operator, period, amountCent, limits),
        waiting: waiting.map(({ subject: _1, key: _2, ...one }) => one),
      };
    });
  });
}

/** Returns the effects of a refund, by the rules of its settlement. `benefits` are the unclaimed benefits of the period. */
export function planRefund(
  { order, payment, refunds }: PeriodToRefund,
  benefits: readonly UnclaimedBenefit[],
  { now, ...asked }: { readonly amountCent: number; readonly keepBenefits: boolean; readonly now: number },
) {
  const reference = { orderNo: order.orderNo, cycleNo: payment.cycleNo, refundSeq: nextRefundSeq(refunds) };
  const { events, refunded } = applyRefund(order, payment, { ...reference, ...asked }, now, refunds);
  const positions = new Set(findPositionsToRevoke(benefits, refunded));
  return { events, revoked: benefits.filter(({ position }) => positions.has(position)) };
}

/** If the step refuses the action, returns a preview with the refusal. */
async function refusable(look: () => Promise<Preview>): Promise<Preview> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const { message: detail, refusal } = error;
    return { ...NO_EFFECTS, refusal: { detail, code: refusal?.code ?? null, values: [...(refusal?.values ?? [])] } };
  }
}

export function countNames(benefits: readonly Pick<UnclaimedBenefit, 'name'>[]) {
  const counts = new Map<string, number>();
  for (const { name } of benefits) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count }));
}

/** Counts the events of each type. Voided periods have one event each, even if one row stands for several. */
export function countByType(events: UnsubscribedRow['events']) {
  const counts = new Map<string, number>();
  for (const { eventType, cycleNo, cycleTo } of events) {
    const count = cycleNo === null || cycleTo === null ? 1 : cycleTo - cycleNo + 1;
    counts.set(eventType, (counts.get(eventType) ?? 0) + count);
  }
  return [...counts].map(([eventType, count]) => ({ eventType, count }));
}
