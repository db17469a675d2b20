import type { MainOrder } from '@perennial/wire';
import type { Channel } from '../channels/channel.js';
import { mainOrder } from './order.js';
import type { RedeemLink } from './redeem.js';
import type { FoundOrder } from './sql.js';

/**
 * The order as its channel sees it. The link is there while something is left to redeem, and not for an order that was
 * unsubscribed (docs/decisions/0010).
 */
export function viewOf(
  channel: Channel,
  { order, payments, redeemable }: FoundOrder,
  redeemLink: RedeemLink,
): MainOrder {
  const open = redeemable && order.status !== 'UNSUBSCRIBED';
  return mainOrder(order, payments, open ? redeemLink(channel, order.orderNo, order.channelUserId) : null);
}
