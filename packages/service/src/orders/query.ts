import { CODES, type MainOrder, type OrdersQueryRequest, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import { gather } from '../db/gather.js';
import { findOrderTexts, type OrderAsked, type OrderText } from './query-sql.js';
import type { RedeemLink } from './redeem.js';
import { orderReference } from './reference.js';
import { orderText } from './text.js';
import { linkOf } from './view.js';

export interface ReadDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly redeemLink: RedeemLink;
}

export function queryOrder({ database, clock, redeemLink }: ReadDeps): Action<OrdersQueryRequest, MainOrder> {
  /** Several reads share a statement (measured: half the CPU of PostgreSQL and a quarter of the client's for each). */
  const find = gather<OrderAsked, OrderText | undefined>({
    maxBatch: 32,
    slots: 2,
    channelOf: (asked) => asked.channelId,
    run: (asked) => findOrderTexts(database, asked, clock.now()),
  });
  return async ({ channel, answer }, request) => {
    const found = await find({ channelId: channel.channelId, reference: orderReference(request) });
    if (!found) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    const data = await orderText(found, linkOf(channel, found, redeemLink), (order) => answer(order).data);
    const { code, message } = CODES.SUCCESS;
    return { code, message, data };
  };
}
