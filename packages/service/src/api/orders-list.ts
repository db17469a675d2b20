import { OrdersListData, type OrdersListRequest } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { successAnswer, type TextPieces } from '../platform/answers/answer.js';
import { createTextAroundItems } from '../platform/answers/serialize.js';
import { isNumberKey, type ListDefinition, readListPage } from '../platform/lists/list-page.js';
import { type ReadDeps, readOrder } from '../subscriptions/steps/orders/read-order.js';
import { type ListedOrder, listOrderTexts, type OrderKey } from '../subscriptions/store/orders/list-sql.js';

const aroundOrders = createTextAroundItems(OrdersListData, 'orders');

const LIST: ListDefinition<ListedOrder, OrderKey> = {
  endpoint: 'orders/list',
  isKey: isNumberKey(2),
  keyOf: ({ createdMicros, order }) => [createdMicros, order.orderNo],
};

export function listUserOrders(deps: ReadDeps): Action<OrdersListRequest, OrdersListData> {
  const { clock } = deps;
  return async ({ channel, database }, request) => {
    const { channelId } = channel;
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const { rows, paging } = await readListPage(LIST, { database, channelId }, filter, request, (db, limit, place) =>
      listOrderTexts(db, channelId, filter, clock.now(), limit, place),
    );
    return successAnswer(listPieces(paging, rows, (one) => readOrder(deps, database, channel, one)));
  };
}

/** Order by order: a page may hold a hundred of 9,999 periods. */
async function* listPieces<One>(
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
