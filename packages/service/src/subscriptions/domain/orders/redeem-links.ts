import { REDEEM_LIFETIME_SECONDS, redeemUrl } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Clock } from '../../../platform/clock.js';
import type { Order } from './order.js';
import type { LinkTerms } from './order-description.js';

export interface RedeemLinks {
  /** The terms of a new link, valid for seven days from now. */
  termsFor(found: { readonly order: Order; readonly redeemable: boolean }): LinkTerms | null;
  /** The same, whether there is something to redeem or not. */
  newTerms(channelUserId: string): LinkTerms;
  sign(channel: Pick<Channel, 'appId' | 'callbackSecret'>, orderNo: string, terms: LinkTerms): string;
}

export function createRedeemLinks(ownHost: () => string, clock: Clock): RedeemLinks {
  const newTerms = (channelUserId: string): LinkTerms => ({
    channelUserId,
    exp: Math.floor(clock.now() / 1000) + REDEEM_LIFETIME_SECONDS,
    host: ownHost(),
  });
  return {
    newTerms,
    /** Null when nothing is left to redeem, or the order was unsubscribed (docs/decisions/0010). */
    termsFor({ order, redeemable }) {
      if (!redeemable || order.status === 'UNSUBSCRIBED') return null;
      return newTerms(order.channelUserId);
    },
    sign: (channel, orderNo, { channelUserId, exp, host = ownHost() }) =>
      redeemUrl({ host, orderNo, appId: channel.appId, channelUserId, exp }, channel.callbackSecret),
  };
}
