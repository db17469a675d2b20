import { type MainOrder, type OrdersQueryRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { successAnswer } from '../platform/answers/answer.js';
import type { Queryable } from '../platform/db/database.js';
import { createBatcher } from '../platform/db/sharing/batcher.js';
import { type OrderRenderDeps, renderFoundOrder } from '../subscriptions/steps/orders/render-order.js';
import { readOrderReference } from '../subscriptions/store/orders/order-reference.js';
import { findOrderTexts, type OrderQuery, type OrderText } from '../subscriptions/store/orders/order-texts-sql.js';

export interface QueryOrderDeps extends OrderRenderDeps {
  /** For the statement that the queries of all channels share. */
  readonly database: Queryable;
}

export function createOrdersQueryAction(deps: QueryOrderDeps): Action<OrdersQueryRequest, MainOrder> {
  /** Concurrent queries share a statement (measured for each: half the CPU of PostgreSQL and a quarter of the client's). */
  const find = createBatcher<OrderQuery, OrderText | undefined>({
    maxBatch: 32,
    slots: 2,
    channelOf: (asked) => asked.channelId,
    run: (asked) => findOrderTexts(deps.database, asked, deps.clock.now()),
  });
  return async ({ channel, caller, database }, request) => {
    const found = await find({ channelId: channel.channelId, reference: readOrderReference(request) }, caller);
    if (!found) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    return successAnswer(renderFoundOrder(deps, database, channel, found));
  };
}
