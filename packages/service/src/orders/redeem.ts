import { REDEEM_LIFETIME_SECONDS, redeemUrl } from '@perennial/wire';
import type { Channel } from '../channels/channel.js';
import type { Clock } from '../clock.js';

export type RedeemLink = (channel: Channel, orderNo: number, channelUserId: string) => string;

/** A link of its own for each answer, good for seven days from now. */
export function redeemLinks(host: () => string, clock: Clock): RedeemLink {
  return (channel, orderNo, channelUserId) =>
    redeemUrl(
      {
        host: host(),
        orderNo: String(orderNo),
        appId: channel.appId,
        channelUserId,
        exp: Math.floor(clock.now() / 1000) + REDEEM_LIFETIME_SECONDS,
      },
      channel.callbackSecret,
    );
}
