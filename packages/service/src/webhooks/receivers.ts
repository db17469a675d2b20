import type { ChannelRegistry } from '../channels/registry.js';
import type { Queryable } from '../db/database.js';
import { type StoredUser, userMobile } from '../users/mobile.js';
import { findCallbacks } from './receivers-sql.js';

/** Where a channel's events go, and what they are signed and sealed with. Valid for one version of the channel. */
export interface Receiver {
  readonly channelId: number;
  readonly appId: string;
  readonly version: number;
  readonly callbackSecret: Uint8Array;
  readonly aesKey: Uint8Array;
  /** The user's login mobile, from its sealed form. */
  mobileOf(user: StoredUser): string;
  /** Undefined: the channel has none for it. */
  readonly payments: Address | undefined;
  readonly orders: Address | undefined;
}

export interface Address {
  readonly url: string;
  /** Held back by an operator. */
  readonly paused: boolean;
}

export interface Receivers {
  /** As this node remembers it for a moment, unless a version is named that it does not have. */
  get(channelId: number, version?: number): Promise<Receiver>;
}

/** What an operator changes is found out after so long at the latest, when no event of the channel tells before. */
const REMEMBERED_MS = 2_000;

export function receiverRegistry(db: Queryable, channels: ChannelRegistry): Receivers {
  const known = new Map<number, { readonly receiver: Promise<Receiver>; readonly until: number }>();
  const load = async (channelId: number): Promise<Receiver> => {
    const channel = await channels.byId(channelId);
    const callbacks = await findCallbacks(db, channelId);
    const address = (eventType: string): Address | undefined => {
      const url = callbacks.urls[eventType] ?? callbacks.urls['*'];
      const paused = callbacks.paused.includes(eventType) || callbacks.paused.includes('*');
      return url === undefined ? undefined : { url, paused };
    };
    return {
      channelId,
      appId: channel.appId,
      version: channel.version,
      callbackSecret: channel.callbackSecret,
      aesKey: channel.aesKey,
      mobileOf: (user) => userMobile(channel, user),
      payments: address('payment.status.changed'),
      orders: address('order.status.changed'),
    };
  };
  const reload = (channelId: number): Promise<Receiver> => {
    const receiver = load(channelId);
    known.set(channelId, { receiver, until: performance.now() + REMEMBERED_MS });
    receiver.catch(() => known.delete(channelId));
    return receiver;
  };
  return {
    async get(channelId, version) {
      const entry = known.get(channelId);
      const receiver = await (entry && performance.now() < entry.until ? entry.receiver : reload(channelId));
      return version === undefined || receiver.version === version ? receiver : reload(channelId);
    },
  };
}
