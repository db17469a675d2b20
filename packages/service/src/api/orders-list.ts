import { OrdersListData, type OrdersListRequest } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { successAnswer, type TextPieces } from '../platform/answers/answer.js';
import { createTextAroundItems } from '../platform/answers/serialize.js';
import { isNumberKey, type ListDefinition, readListPage } from '../platform/lists/list-page.js';
import { type OrderRenderDeps, renderFoundOrder } from '../subscriptions/steps/orders/render-order.js';
import { type ListedOrder, listOrderTexts, type OrderKey } from '../subscriptions/store/orders/list-orders-sql.js';

const aroundOrders = createTextAroundItems(OrdersListData, 'orders');

const ORDER_LIST: ListDefinition<ListedOrder, OrderKey> = {
  endpoint: 'orders/list',
  isKey: isNumberKey(2),
  keyOf: ({ createdMicros, order }) => [createdMicros, order.orderNo],
};

export function createOrdersListAction(deps: OrderRenderDeps): Action<OrdersListRequest, OrdersListData> {
  const { clock } = deps;
  return async ({ channel, database }, request) => {
    const { channelId } = channel;
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const { rows, paging } = await readListPage(
      ORDER_LIST,
      { database, channelId },
      filter,
      request,
      (db, limit, place) => listOrderTexts(db, channelId, filter, clock.now(), limit, place),
    );
    return successAnswer(renderListInPieces(paging, rows, (one) => renderFoundOrder(deps, database, channel, one)));
  };
}

/** Renders one order at a time, because a page may have a hundred orders of 9,999 periods. */
async function* renderListInPieces<One>(
  rest: Omit<OrdersListData, 'orders'>,
  orders: readonly One[],
  textOf: (one: One) => string | TextPieces,
): AsyncGenerator<string> {
  let before = aroundOrders.before(rest);
  for (const one of orders) {
    const text = textOf(one);
    if (typeof text === 'string') yield before + text;
    else {
      yield before;
      yield* text;
    }
    before = ',';
  }
  yield (orders.length === 0 ? before : '') + aroundOrders.after(rest);
}
