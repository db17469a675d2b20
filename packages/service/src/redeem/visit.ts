import { verifyRedeemLink } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { SignedLink } from './link.js';
import { findChannelVersion, type RedeemOrder } from './page-sql.js';

/** Somebody with a link that holds, and what was read for them. */
export interface Visit<Read extends RedeemOrder = RedeemOrder> {
  readonly link: SignedLink;
  readonly channel: Channel;
  readonly read: Read;
}

/** Nothing for a link that does not hold, whatever is wrong with it. */
export type Visitor = <Read extends RedeemOrder>(
  link: SignedLink,
  read: (channelId: number, orderNo: number) => Promise<Read | undefined>,
) => Promise<Visit<Read> | undefined>;

export interface VisitDeps {
  readonly database: Queryable;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
}

/** Signs nothing: an unknown channel's link is checked against it all the same, and takes as long as any other. */
const UNKNOWN_CHANNEL_SECRET = new Uint8Array(32);

/**
 * The signature is checked with the secret that this node remembers, and what is read then says which version of the
 * channel is the current one. After a reset elsewhere both answers may have been wrong, and both are sought again.
 */
export function createVisitor({ database, channels, clock }: VisitDeps): Visitor {
  return async (link, read) => {
    let channel = await channels.get(link.appId);
    for (;;) {
      const signed = { ...link, orderNo: String(link.orderNo) };
      const holds = verifyRedeemLink(signed, link.sig, channel?.callbackSecret ?? UNKNOWN_CHANNEL_SECRET);
      if (!channel) return undefined;
      const found = holds ? await read(channel.channelId, link.orderNo) : undefined;
      const version = holds ? found?.version : await findChannelVersion(database, link.appId);
      if (version === undefined) return undefined;
      if (version !== channel.version) {
        channel = await channels.reload(link.appId);
        continue;
      }
      const live = link.exp > clock.now() / 1000;
      const theirs = found?.order.channelUserId === link.channelUserId;
      return found && theirs && live ? { link, channel, read: found } : undefined;
    }
  };
}
