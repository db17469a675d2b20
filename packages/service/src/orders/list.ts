import { CODES, type MainOrder, type OrdersListData, type OrdersListRequest, pageOf } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import { listOrderTexts } from './list-sql.js';
import type { RedeemLink } from './redeem.js';
import { orderText, orderTexts } from './text.js';
import { linkOf } from './view.js';

export interface ListDeps {
  readonly clock: Clock;
  readonly redeemLink: RedeemLink;
}

const ORDERS = '{"orders":[';

export function listUserOrders({ clock, redeemLink }: ListDeps): Action<OrdersListRequest, OrdersListData> {
  return async ({ channel, database, answer }, request) => {
    const { page, size } = pageOf(request);
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const found = await listOrderTexts(database, channel.channelId, filter, clock.now(), size + 1, (page - 1) * size);
    const text = (orders: MainOrder[]) => answer({ orders, page, size, hasMore: found.length > size }).data;
    const rest = text([]).slice(ORDERS.length);
    // A page may hold 100 orders of 9,999 periods, so each is made by itself.
    const serialize = (order: MainOrder) => text([order]).slice(ORDERS.length, -rest.length);
    const orders = await orderTexts(found.slice(0, size), (one) =>
      orderText(one, linkOf(channel, one, redeemLink), serialize),
    );
    const { code, message } = CODES.SUCCESS;
    return { code, message, data: ORDERS + orders + rest };
  };
}
