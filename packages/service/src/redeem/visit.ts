import { verifyRedeemLink } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { SignedLink } from './link.js';
import { findChannelVersion, type RedeemOrder } from './page-sql.js';

/** A visitor with a valid link, and what was read for it. */
export interface Visit<Read extends RedeemOrder = RedeemOrder> {
  readonly kind: 'open';
  readonly link: SignedLink;
  readonly channel: Channel;
  readonly read: Read;
}

/** A visitor with a link that was valid once. */
export interface LateVisit {
  readonly kind: 'expired';
  readonly channel: Channel;
}

/** Undefined for a link that never was valid, whatever is wrong with it. */
export type Visitor = <Read extends RedeemOrder>(
  link: SignedLink,
  read: (channelId: number, orderNo: number) => Promise<Read | undefined>,
) => Promise<Visit<Read> | LateVisit | undefined>;

export interface VisitDeps {
  readonly database: Queryable;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
}

/** The link of an unknown channel is checked with this, so that it takes as long as any other. */
const UNKNOWN_CHANNEL_SECRET = new Uint8Array(32);

function isSigned(link: SignedLink, channel: Channel | undefined): boolean {
  const signed = { ...link, orderNo: String(link.orderNo) };
  return verifyRedeemLink(signed, link.sig, channel?.callbackSecret ?? UNKNOWN_CHANNEL_SECRET);
}

/**
 * The channel of a link that holds and has not run out, by what this node has in memory: whoever acts on it compares the channel's
 * version and the order's user in the same statement. Undefined: a visit decides.
 */
export function createLinkCheck({ channels, clock }: Pick<VisitDeps, 'channels' | 'clock'>) {
  return (link: SignedLink): Channel | undefined => {
    const channel = channels.getFromMemory(link.appId);
    return channel && isSigned(link, channel) && link.exp > clock.now() / 1000 ? channel : undefined;
  };
}

/**
 * The signature is checked with the secret that this node has in memory. What is read then tells the present version of the
 * channel. If that is another, the secret may have been reset: the channel is loaded and the link is checked again.
 */
export function createVisitor({ database, channels, clock }: VisitDeps): Visitor {
  return async (link, read) => {
    let channel = await channels.get(link.appId);
    for (;;) {
      const holds = isSigned(link, channel);
      if (!channel) return undefined;
      const found = holds ? await read(channel.channelId, link.orderNo) : undefined;
      const version = holds ? found?.version : await findChannelVersion(database, link.appId);
      if (version === undefined) return undefined;
      if (version !== channel.version) {
        channel = await channels.reload(link.appId);
        continue;
      }
      if (!found || found.order.channelUserId !== link.channelUserId) return undefined;
      if (link.exp <= clock.now() / 1000) return { kind: 'expired', channel };
      return { kind: 'open', link, channel, read: found };
    }
  };
}
