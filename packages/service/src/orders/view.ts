import type { MainOrder } from '@perennial/wire';
import type { Channel } from '../channels/channel.js';
import { mainOrder } from './order.js';
import type { RedeemLink } from './redeem.js';
import type { FoundOrder } from './sql.js';

/** There while something is left to redeem, and not for an order that was unsubscribed (docs/decisions/0010). */
export function linkOf(
  channel: Channel,
  { order, redeemable }: Pick<FoundOrder, 'order' | 'redeemable'>,
  redeemLink: RedeemLink,
): string | null {
  const open = redeemable && order.status !== 'UNSUBSCRIBED';
  return open ? redeemLink(channel, order.orderNo, order.channelUserId) : null;
}

/** The order as its channel sees it. */
export function viewOf(channel: Channel, found: FoundOrder, redeemLink: RedeemLink): MainOrder {
  return mainOrder(found.order, found.payments, linkOf(channel, found, redeemLink));
}
