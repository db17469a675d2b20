import { CODES, type MainOrder, type OrdersListData, type OrdersListRequest } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import { areNumbers, type List, readPage } from '../lists/page.js';
import { type ListedOrder, listOrderTexts, type OrderKey } from './list-sql.js';
import type { RedeemLink } from './redeem.js';
import { orderText, orderTexts } from './text.js';
import { linkOf } from './view.js';

export interface ListDeps {
  readonly clock: Clock;
  readonly redeemLink: RedeemLink;
}

const LIST: List<ListedOrder, OrderKey> = {
  endpoint: 'orders/list',
  isKey: areNumbers(2),
  keyOf: ({ createdMicros, order }) => [createdMicros, order.orderNo],
};

const ORDERS = '{"orders":[';

export function listUserOrders({ clock, redeemLink }: ListDeps): Action<OrdersListRequest, OrdersListData> {
  return async ({ channel, database, answer }, request) => {
    const { channelId } = channel;
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const { rows, paging } = await readPage(LIST, { database, channelId }, filter, request, (db, limit, place) =>
      listOrderTexts(db, channelId, filter, clock.now(), limit, place),
    );
    const text = (orders: MainOrder[]) => answer({ orders, ...paging }).data;
    const rest = text([]).slice(ORDERS.length);
    // A page may hold 100 orders of 9,999 periods, so each is made by itself.
    const serialize = (order: MainOrder) => text([order]).slice(ORDERS.length, -rest.length);
    const orders = await orderTexts(rows, (one) => orderText(one, linkOf(channel, one, redeemLink), serialize));
    const { code, message } = CODES.SUCCESS;
    return { code, message, data: ORDERS + orders + rest };
  };
}
