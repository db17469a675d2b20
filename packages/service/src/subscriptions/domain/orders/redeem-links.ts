import { REDEEM_LIFETIME_SECONDS, redeemUrl } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Clock } from '../../../platform/clock.js';
import type { Order } from './order.js';
import type { LinkTerms } from './order-description.js';

export function createRedeemLinks(ownHost: () => string, clock: Clock) {
  const newTerms = (channelUserId: string): LinkTerms => ({
    channelUserId,
    exp: Math.floor(clock.now() / 1000) + REDEEM_LIFETIME_SECONDS,
    host: ownHost(),
  });
  return {
    /** Returns the terms of a new link, valid for seven days, even if nothing is left to redeem. */
    newTerms,
    /** Returns null if nothing is left to redeem or the order is unsubscribed (docs/decisions/0010). */
    termsFor({ order, redeemable }: { readonly order: Order; readonly redeemable: boolean }): LinkTerms | null {
      if (!redeemable || order.status === 'UNSUBSCRIBED') return null;
      return newTerms(order.channelUserId);
    },
    sign: (
      channel: Pick<Channel, 'appId' | 'callbackSecret'>,
      orderNo: string,
      { channelUserId, exp, host = ownHost() }: LinkTerms,
    ): string => redeemUrl({ host, orderNo, appId: channel.appId, channelUserId, exp }, channel.callbackSecret),
  };
}

export type RedeemLinks = ReturnType<typeof createRedeemLinks>;
