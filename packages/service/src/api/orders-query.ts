import { type MainOrder, type OrdersQueryRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { successAnswer } from '../platform/answers/answer.js';
import type { Queryable } from '../platform/db/database.js';
import { createBatcher } from '../platform/db/sharing/batcher.js';
import { type ReadDeps, readOrder } from '../subscriptions/steps/orders/read-order.js';
import { findOrderTexts, type OrderAsked, type OrderText } from '../subscriptions/store/orders/query-sql.js';
import { orderReference } from '../subscriptions/store/orders/reference.js';

export interface QueryDeps extends ReadDeps {
  /** For the statement that the queries of all channels share. */
  readonly database: Queryable;
}

export function queryOrder(deps: QueryDeps): Action<OrdersQueryRequest, MainOrder> {
  /** Several reads share a statement (measured: half the CPU of PostgreSQL and a quarter of the client's for each). */
  const find = createBatcher<OrderAsked, OrderText | undefined>({
    maxBatch: 32,
    slots: 2,
    channelOf: (asked) => asked.channelId,
    run: (asked) => findOrderTexts(deps.database, asked, deps.clock.now()),
  });
  return async ({ channel, caller, database }, request) => {
    const found = await find({ channelId: channel.channelId, reference: orderReference(request) }, caller);
    if (!found) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    return successAnswer(readOrder(deps, database, channel, found));
  };
}
