import { type EncryptionVersion, type EventType, eventTypes } from '@perennial/wire/enums';
import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Queryable } from '../../platform/db/database.js';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import { type StoredUser, unsealUserMobile } from '../../subscriptions/steps/users/login-mobile.js';
import { type Callbacks, findCallbacks, findVersions } from '../queue/receivers-sql.js';

/** What the events of a channel are signed and encrypted with. Valid for one version of the channel. */
export interface PushKeys {
  readonly appId: string;
  readonly version: number;
  /** Signs pushes, and links of this moment. */
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

/** Where a channel's events go, and the keys for them. */
export interface Receiver extends PushKeys {
  readonly channelId: number;
  /** One for each event type, in their order. Undefined: the channel has no address for it. */
  readonly addresses: readonly (Address | undefined)[];
}

export interface Address {
  readonly url: string;
  /** The types whose events go to it: they keep their order. */
  readonly typeNos: readonly number[];
  /** By an operator: nothing is pushed to it for now. */
  readonly paused: boolean;
}

export interface Receivers {
  /** The receiver as it was at most CACHE_MS ago, and no older than `version`. */
  get(channelId: number, version?: number): Promise<Receiver>;
  /** The same without waiting; undefined when the database has to be asked. */
  getCached(channelId: number): Receiver | undefined;
}

/** A change by an operator is noticed after this time at the latest, by one statement for all channels in use. */
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
