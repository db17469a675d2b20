import { type OrdersListData, type OrdersListRequest, pageOf } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import type { RedeemLink } from './redeem.js';
import { listOrders } from './sql.js';
import { viewOf } from './view.js';

export interface ListDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly redeemLink: RedeemLink;
}

export function listUserOrders({ database, clock, redeemLink }: ListDeps): Action<OrdersListRequest, OrdersListData> {
  return async ({ channel, answer }, request) => {
    const { page, size } = pageOf(request);
    const filter = { channelUserId: request.channelUserId, cycles: request.cycleType };
    const found = await listOrders(database, channel.channelId, filter, clock.now(), size + 1, (page - 1) * size);
    const orders = found.slice(0, size).map((one) => viewOf(channel, one, redeemLink));
    return answer({ orders, page, size, hasMore: found.length > size });
  };
}
