import { formatTime, parseTime, Rejection } from '@perennial/wire';
import { rehearsedOutcomes } from '@perennial/wire/enums';
import { createChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Queryable } from '../../platform/db/database.js';
import { nextPayTime, type Order } from '../../subscriptions/domain/orders/order.js';
import { type AdvanceWish, nextStepTime, planJourney } from '../../subscriptions/steps/orders/advance-journey.js';
import { type AdvanceStep, advancePeriods, holdOrder } from '../../subscriptions/steps/orders/advance-periods.js';
import { findOrderStanding } from '../../subscriptions/store/orders/order-standing-sql.js';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, OperatorError, type OperatorWithGateways } from '../operator.js';
import { quoted, requireInteger, requireOneOf } from '../rules.js';
import { requireLockedOrder } from './orders.js';
import { findOrderOfAnyChannel } from './orders-sql.js';

interface AdvanceInput {
  readonly orderNo: string;
  /** The number of periods to advance, unless `to` is given. */
  readonly cycles?: number;
  /** The time to advance to, unless `cycles` is given. */
  readonly to?: string;
  /** The outcomes of the next periods, one after another. Further periods succeed. */
  readonly outcomes?: readonly string[];
}

export type AdvancedOrder = ReturnType<typeof describeAdvancedOrder>;

/** Advances an order of the sandbox in time, as the channel can do through the API. */
export async function advanceOrderOfAnyChannel(
  operator: OperatorWithGateways,
  input: AdvanceInput,
): Promise<Changed<AdvancedOrder>> {
  if (operator.environment !== 'sandbox') {
    throw new OperatorError('time travel is available only in the sandbox');
  }
  const asked = requireAdvance(input);
  const { database, vault } = operator;
  try {
    const { order, journey } = await inTransaction(operator, (tx) => beginAdvance(operator, tx, input, asked));
    const channel = () => createChannelRegistry(database, vault).getById(order.channelId);
    const { steps, end } = await advancePeriods({ ...operator, channel }, journey, asked.outcomes, (tx) =>
      findOrderOfAnyChannel(tx, { orderNo: order.orderNo }),
    );
    return { ...describeAdvancedOrder(end ?? order, steps), changed: steps.length > 0 };
  } catch (error) {
    throw error instanceof Rejection ? new OperatorError(`order ${input.orderNo} stays: ${error.message}`) : error;
  }
}

async function beginAdvance(
  { actor }: OperatorWithGateways,
  tx: Queryable,
  { orderNo: subject, ...detail }: AdvanceInput,
  asked: AdvanceWish,
) {
  const order = await requireLockedOrder(tx, subject);
  const standing = await findOrderStanding(tx, order.orderNo);
  const journey = planJourney(order, standing, asked);
  await holdOrder(tx, journey);
  if (nextStepTime(journey, order, standing) !== undefined) {
    await recordAudit(tx, { actor, action: 'order.advance', subject, detail });
  }
  return { order, journey };
}

const MAX_CYCLES = 9999;

function requireAdvance({ cycles, to, outcomes = [] }: AdvanceInput): AdvanceWish {
  if ((cycles === undefined) === (to === undefined)) {
    throw new OperatorError('give either a number of cycles or a time');
  }
  const chosen = outcomes.map((outcome) => requireOneOf('an outcome', outcome, rehearsedOutcomes));
  if (to !== undefined) {
    const time = parseTime(to);
    if (time === undefined) throw new OperatorError(`the time must be like "2026-12-31 23:59:59", not ${quoted(to)}`);
    return { to: { time }, outcomes: chosen };
  }
  const count = requireInteger('the number of cycles', cycles ?? 0, 1, MAX_CYCLES);
  if (chosen.length > count) throw new OperatorError(`${chosen.length} outcomes are more than ${count} cycles`);
  return { to: { cycles: count }, outcomes: chosen };
}

function describeAdvancedOrder(order: Order, steps: readonly AdvanceStep[]) {
  return {
    orderNo: String(order.orderNo),
    externalOrderNo: order.externalOrderNo,
    orderStatus: order.status,
    nextPayTime: nextPayTime(order),
    steps: steps.map(({ at, payment, orderStatus }) => ({
      occurredAt: formatTime(at),
      /** Null if the step ran no period and only completed the order. */
      cycleNo: payment?.cycleNo ?? null,
      paymentStatus: payment?.status ?? null,
      orderStatus,
    })),
  };
}
