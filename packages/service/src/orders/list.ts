import { OrdersListData, type OrdersListRequest, pageOf } from '@perennial/wire';
import type { Action } from '../action.js';
import { type Pieces, success } from '../answer.js';
import { aroundItems } from '../serialize.js';
import { listOrderTexts } from './list-sql.js';
import { type ReadDeps, readOrder } from './read-order.js';

const aroundOrders = aroundItems(OrdersListData, 'orders');

export function listUserOrders(deps: ReadDeps): Action<OrdersListRequest, OrdersListData> {
  const { clock } = deps;
  return async ({ channel, database }, request) => {
    const { page, size } = pageOf(request);
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const found = await listOrderTexts(database, channel.channelId, filter, clock.now(), size + 1, (page - 1) * size);
    const rest = { page, size, hasMore: found.length > size };
    return success(listPieces(rest, found.slice(0, size), (one) => readOrder(deps, database, channel, one)));
  };
}

/** Order by order: a page may hold a hundred of 9,999 periods. */
async function* listPieces<One>(
  rest: Omit<OrdersListData, 'orders'>,
  orders: readonly One[],
  textOf: (one: One) => string | Pieces,
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
