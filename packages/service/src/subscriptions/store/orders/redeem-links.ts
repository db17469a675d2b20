import { REDEEM_LIFETIME_SECONDS, redeemUrl } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Clock } from '../../../platform/clock.js';
import type { LinkTerms } from '../../domain/orders/order-description.js';
import type { OrderWithPayments } from './orders-sql.js';

export interface RedeemLinks {
  /** The terms of a new link, valid for seven days from now. */
  termsFor(found: Pick<OrderWithPayments, 'order' | 'redeemable'>): LinkTerms | null;
  sign(channel: Channel, orderNo: string, terms: LinkTerms): string;
}

export function createRedeemLinks(host: () => string, clock: Clock): RedeemLinks {
  return {
    /** Null when nothing is left to redeem, or the order was unsubscribed (docs/decisions/0010). */
    termsFor({ order, redeemable }) {
      if (!redeemable || order.status === 'UNSUBSCRIBED') return null;
      return { channelUserId: order.channelUserId, exp: Math.floor(clock.now() / 1000) + REDEEM_LIFETIME_SECONDS };
    },
    sign: (channel, orderNo, { channelUserId, exp }) =>
      redeemUrl({ host: host(), orderNo, appId: channel.appId, channelUserId, exp }, channel.callbackSecret),
  };
}
