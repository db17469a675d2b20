import { randomUUID } from 'node:crypto';
import { type OrdersAdvanceRequest, parseTime, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { createOrderDescription, type OrderDescription } from '../subscriptions/domain/orders/order-description.js';
import { isLongAnswer } from '../subscriptions/domain/orders/order-text.js';
import { type AdvanceWish, type Journey, planJourney } from '../subscriptions/steps/orders/advance-journey.js';
import { advancePeriods, holdOrder } from '../subscriptions/steps/orders/advance-periods.js';
import { readOrderReference } from '../subscriptions/steps/orders/order-reference.js';
import { findOrderStanding } from '../subscriptions/store/orders/order-standing-sql.js';
import { findOrderWithPayments, lockOrderOfChannel } from '../subscriptions/store/orders/orders-sql.js';
import type { ApiDeps } from './api-deps.js';

export type AdvanceOrderDeps = Pick<ApiDeps, 'gateways' | 'clock' | 'links' | 'debitDeadlineMs'>;

/**
 * sandbox/orders/advance (docs/decisions/0020). Stores the journey (the planned time travel) first, so that a repeated
 * request continues it after a crash.
 */
export function createOrdersAdvanceAction(deps: AdvanceOrderDeps): Action<OrdersAdvanceRequest, OrderDescription> {
  const { clock, links } = deps;
  return async ({ channel, database, once, answer, place }, request) => {
    const asked = readAdvanceWish(request);
    const begin = () =>
      database.transaction(async (tx) => {
        const order = await lockOrderOfChannel(tx, channel.channelId, readOrderReference(request));
        if (!order) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
        if (isLongAnswer(order.totalCycles)) place.reserve();
        const planned = planJourney(order, await findOrderStanding(tx, order.orderNo), asked);
        await holdOrder(tx, planned);
        await once.begin(tx, JSON.stringify(planned));
        return planned;
      });
    const journey = once.interrupted === undefined ? await begin() : readJourney(once.interrupted);
    const { end } = await advancePeriods(
      { ...deps, database, channel: async () => channel },
      journey,
      asked.outcomes,
      async (tx) => {
        const found = await findOrderWithPayments(tx, channel.channelId, { orderNo: journey.orderNo }, clock.now());
        if (!found) throw new Error(`order ${journey.orderNo} was advanced but does not exist`);
        return once.finish(tx, answer(createOrderDescription(found.order, found.payments, links.termsFor(found))));
      },
    );
    return end;
  };
}

/** Adds an id, because journeys begun by a node of the previous version have none. */
const readJourney = (text: string): Journey => ({ id: randomUUID(), ...JSON.parse(text) });

/** The checks of the endpoint ensure that exactly one of `cycles` and `to` is given, and that `to` is a time. */
function readAdvanceWish({ cycles, to, outcomes = [] }: OrdersAdvanceRequest): AdvanceWish {
  return { to: cycles === undefined ? { time: parseTime(to ?? '') ?? 0 } : { cycles }, outcomes };
}
