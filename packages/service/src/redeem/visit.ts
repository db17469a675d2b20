import { verifyRedeemLink } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { CodesShown } from './codes-shown.js';
import type { SignedLink } from './link.js';
import { findChannelVersion, type RedeemOrder } from './store/order-sql.js';

/** A visitor with a valid link, and the data that was read for the link. */
export interface Visit<Read extends RedeemOrder = RedeemOrder> {
  readonly kind: 'open';
  readonly link: SignedLink;
  readonly channel: Channel;
  readonly read: Read;
  /** Unset on a read-only node. */
  readonly codesShown?: CodesShown | undefined;
}

/** A visitor with an expired link. */
export interface LateVisit {
  readonly kind: 'expired';
  readonly link: SignedLink;
  readonly channel: Channel;
}

/** Checks a link. Resolves to undefined if anything but the expiry is wrong with the link. */
export type Visitor = <Read extends RedeemOrder>(
  link: SignedLink,
  read: (channelId: number, orderNo: number) => Promise<Read | undefined>,
) => Promise<Visit<Read> | LateVisit | undefined>;

export interface VisitDeps {
  readonly database: Queryable;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
  readonly codesShown?: CodesShown | undefined;
}

/** Used for links of unknown channels, so that the check of the signature takes the same time. */
const UNKNOWN_CHANNEL_SECRET = new Uint8Array(32);

function isSigned(link: SignedLink, channel: Channel | undefined): boolean {
  const signed = { ...link, orderNo: String(link.orderNo) };
  return verifyRedeemLink(signed, link.sig, channel?.callbackSecret ?? UNKNOWN_CHANNEL_SECRET);
}

/**
 * If the link is valid according to this node's memory, returns the channel. The caller's statement must then check
 * that the channel still has this version, and that the order belongs to the link's user. If the link is not valid,
 * returns undefined, and the caller must check the link with `createVisitor`.
 */
export function createLinkCheck({ channels, clock }: Pick<VisitDeps, 'channels' | 'clock'>) {
  return (link: SignedLink): Channel | undefined => {
    const channel = channels.getFromMemory(link.appId);
    return channel && isSigned(link, channel) && link.exp > clock.now() / 1000 ? channel : undefined;
  };
}

/**
 * Checks the signature with the secret in this node's memory. If the channel has a different version in the database,
 * its secret may have been reset. Then the channel is reloaded, and the link is checked again.
 */
export function createVisitor({ database, channels, clock, codesShown }: VisitDeps): Visitor {
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
      if (link.exp <= clock.now() / 1000) return { kind: 'expired', link, channel };
      return { kind: 'open', link, channel, read: found, codesShown };
    }
  };
}
