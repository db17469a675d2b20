import { type EncryptionVersion, type EventType, eventTypes } from '@perennial/wire/enums';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Queryable } from '../../platform/db/database.js';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import { type StoredUser, unsealUserMobile } from '../../subscriptions/steps/users/login-mobile.js';
import { type Callbacks, findCallbacks, findVersions } from '../queue/receivers-sql.js';

/**
 * The keys that sign and encrypt a channel's events. When the channel's version changes, the keys must be loaded
 * again.
 */
export interface PushKeys {
  readonly appId: string;
  readonly version: number;
  /** Signs pushes and newly created links. */
  readonly callbackSecret: Uint8Array;
  readonly aesKey: Uint8Array;
  readonly encryption: EncryptionVersion;
  /** Returns the user's login mobile, which is stored encrypted. */
  decryptMobile(user: StoredUser): string;
}

export function createPushKeys(channel: Channel): PushKeys {
  return {
    appId: channel.appId,
    version: channel.version,
    callbackSecret: channel.callbackSecret,
    aesKey: channel.aesKey,
    encryption: channel.answerEncryption,
    decryptMobile: (user) => unsealUserMobile(channel, user),
  };
}

/** The addresses of a channel's events, and the keys for them. */
export interface Receiver extends PushKeys {
  readonly channelId: number;
  /** The address of each event type, by the type's index. Undefined if the channel has no address for the type. */
  readonly addresses: readonly (Address | undefined)[];
}

export interface Address {
  readonly url: string;
  /**
   * The event types that are sent to this address. They are either all paused or all not paused. Their events share a
   * lane.
   */
  readonly typeNos: readonly number[];
  /** True if an operator has paused these event types. */
  readonly paused: boolean;
}

export interface Receivers {
  /** Returns the receiver as it was at most CACHE_MS ago, in the given version or a later one. */
  get(channelId: number, version?: number): Promise<Receiver>;
  /** Returns undefined if the receiver is not cached or the entry is too old. */
  getCached(channelId: number): Receiver | undefined;
}

/** An operator's change takes effect within this time. One statement checks the versions of many channels. */
const CACHE_MS = 200;

export function createReceiverRegistry(db: Queryable, channels: ChannelRegistry): Receivers {
  const cache = new Map<number, { readonly receiver: Receiver; until: number }>();
  const currentVersion = createBatcher<number, number | undefined>({
    maxBatch: 1_000,
    slots: 2,
    run: (channelIds) => findVersions(db, channelIds),
  });

  async function load(channelId: number): Promise<Receiver> {
    const until = performance.now() + CACHE_MS;
    const channel = await channels.getById(channelId);
    const callbacks = await findCallbacks(db, channelId);
    const receiver: Receiver = { ...createPushKeys(channel), channelId, addresses: toAddresses(callbacks) };
    cache.set(channelId, { receiver, until });
    return receiver;
  }

  return {
    getCached(channelId) {
      const entry = cache.get(channelId);
      return entry && performance.now() < entry.until ? entry.receiver : undefined;
    },
    async get(channelId, version) {
      const entry = cache.get(channelId);
      if (!entry || (version !== undefined && entry.receiver.version < version)) return load(channelId);
      const now = performance.now();
      if (now < entry.until) return entry.receiver;
      if ((await currentVersion(channelId)) !== entry.receiver.version) return load(channelId);
      entry.until = now + CACHE_MS;
      return entry.receiver;
    },
  };
}

function toAddresses({ urls, paused }: Callbacks): (Address | undefined)[] {
  const own = eventTypes.map((eventType: EventType) => ({
    url: urls[eventType] ?? urls['*'],
    paused: paused.includes(eventType) || paused.includes('*'),
  }));
  return own.map(({ url, paused: isPaused }) => {
    if (url === undefined) return undefined;
    const typeNos = own.flatMap((other, typeNo) => (other.url === url && other.paused === isPaused ? [typeNo] : []));
    return { url, paused: isPaused, typeNos };
  });
}
