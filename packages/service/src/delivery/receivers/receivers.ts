import type { EncryptionVersion } from '@perennial/wire/enums';
import type { ChannelRegistry } from '../../catalog/channels/registry.js';
import type { Queryable } from '../../platform/db/database.js';
import { gather } from '../../platform/db/sharing/gather.js';
import { type StoredUser, userMobile } from '../../subscriptions/store/users/mobile.js';
import { findCallbacks, findVersions } from '../queue/receivers-sql.js';
import { signingKey } from './signing-key.js';

/** Where a channel's events go, and what they are signed and sealed with. Valid for one version of the channel. */
export interface Receiver {
  readonly channelId: number;
  readonly appId: string;
  readonly version: number;
  /** With the callback secret. */
  sign(text: string): string;
  readonly aesKey: Uint8Array;
  readonly encryption: EncryptionVersion;
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
  /** As it was a moment ago at most, and no older than the version that is named. */
  get(channelId: number, version?: number): Promise<Receiver>;
  /** The same at once, if nothing has to be asked for it. */
  remembered(channelId: number): Receiver | undefined;
}

/** A change by an operator is found out after so long at the latest: one statement for all channels that are sent to. */
const REMEMBERED_MS = 200;

export function receiverRegistry(db: Queryable, channels: ChannelRegistry): Receivers {
  const known = new Map<number, { readonly receiver: Receiver; until: number }>();
  const currentVersion = gather<number, number | undefined>({
    maxBatch: 1_000,
    slots: 2,
    run: (channelIds) => findVersions(db, channelIds),
  });

  async function load(channelId: number): Promise<Receiver> {
    const until = performance.now() + REMEMBERED_MS;
    const channel = await channels.byId(channelId);
    const callbacks = await findCallbacks(db, channelId);
    const address = (eventType: string): Address | undefined => {
      const url = callbacks.urls[eventType] ?? callbacks.urls['*'];
      const paused = callbacks.paused.includes(eventType) || callbacks.paused.includes('*');
      return url === undefined ? undefined : { url, paused };
    };
    const receiver: Receiver = {
      channelId,
      appId: channel.appId,
      version: channel.version,
      sign: signingKey(channel.callbackSecret),
      aesKey: channel.aesKey,
      encryption: channel.answerEncryption,
      mobileOf: (user) => userMobile(channel, user),
      payments: address('payment.status.changed'),
      orders: address('order.status.changed'),
    };
    known.set(channelId, { receiver, until });
    return receiver;
  }

  return {
    remembered(channelId) {
      const entry = known.get(channelId);
      return entry && performance.now() < entry.until ? entry.receiver : undefined;
    },
    async get(channelId, version) {
      const entry = known.get(channelId);
      if (!entry || (version !== undefined && entry.receiver.version < version)) return load(channelId);
      const now = performance.now();
      if (now < entry.until) return entry.receiver;
      if ((await currentVersion(channelId)) !== entry.receiver.version) return load(channelId);
      entry.until = now + REMEMBERED_MS;
      return entry.receiver;
    },
  };
}
