import type { Queryable } from '../../platform/db/database.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { NO_BRANDING } from './branding.js';
import { type Channel, createAddressCheck } from './channel.js';
import { openChannelKeys } from './channel-keys.js';
import { type ChannelRow, findAppId, findChannel } from './channels-sql.js';
import { openCredentials, openFormerAppSecret } from './credentials.js';
import { FieldFailures } from './field-failures.js';
import { createSealing } from './sealing.js';

/**
 * Caches channels with their secrets decrypted. An entry may be stale: the caller compares its version with the
 * database in a statement that it runs anyway, and calls `reload` if they differ.
 */
export function createChannelRegistry(db: Queryable, vault: Vault) {
  const known = new Map<string, Channel>();
  const loading = new Map<string, Promise<Channel | undefined>>();
  const appIds = new Map<number, Promise<string | undefined>>();
  const fieldFailures = new Map<number, FieldFailures>();

  async function load(appId: string): Promise<Channel | undefined> {
    const row = await findChannel(db, appId);
    // Unknown ids are not cached, because anybody could fill the memory with them.
    if (!row) {
      known.delete(appId);
      return undefined;
    }
    const keys = await openChannelKeys(db, vault, row);
    const channel: Channel = {
      channelId: row.channelId,
      appId,
      version: row.version,
      suspended: row.status === 'SUSPENDED',
      tokenEpoch: row.tokenEpoch,
      voidedPeriodEvents: row.voidedPeriodEvents,
      answerEncryption: row.answerEncryption,
      acceptsV1: row.acceptsV1,
      fieldFailures: findFieldFailures(row.channelId),
      frameOrigins: row.frameOrigins,
      name: row.name,
      branding: row.branding ?? NO_BRANDING,
      upcomingNoticeDays: row.upcomingNoticeDays ?? undefined,
      sealing: createSealing(keys),
      allowsAddress: createAddressCheck(row.ipAllowList),
      ...openCredentials(keys.dataKey, appId, row),
      formerAppSecret: openFormer(row, keys.dataKey),
    };
    known.set(appId, channel);
    return channel;
  }

  function openFormer({ appId, formerAppSecret, formerSecretUntil: until }: ChannelRow, dataKey: Uint8Array) {
    if (formerAppSecret === null || until === null) return undefined;
    return { secret: openFormerAppSecret(dataKey, appId, formerAppSecret), until };
  }

  function findFieldFailures(channelId: number): FieldFailures {
    const known = fieldFailures.get(channelId) ?? new FieldFailures();
    fieldFailures.set(channelId, known);
    return known;
  }

  /** Always starts a new read, because an earlier read may miss a change. `get` shares the latest read in progress. */
  function reload(appId: string): Promise<Channel | undefined> {
    const promise = load(appId);
    loading.set(appId, promise);
    const forget = () => {
      if (loading.get(appId) === promise) loading.delete(appId);
    };
    promise.then(forget, forget);
    return promise;
  }

  function getAppId(channelId: number): Promise<string | undefined> {
    const promise = appIds.get(channelId) ?? findAppId(db, channelId);
    appIds.set(channelId, promise);
    promise.catch(() => appIds.delete(channelId));
    return promise;
  }

  return {
    getFromMemory: (appId: string): Channel | undefined => known.get(appId),
    get: async (appId: string): Promise<Channel | undefined> => known.get(appId) ?? loading.get(appId) ?? reload(appId),
    reload,
    /** Reads the app id of a channel only once, because it never changes. */
    getAppId,
    /**
     * Always reads from the database. For work without a request, in which no admission compares the channel's version.
     */
    async getById(channelId: number): Promise<Channel> {
      const appId = await findAppId(db, channelId);
      const channel = appId === undefined ? undefined : await reload(appId);
      if (!channel) throw new Error(`there is no channel ${channelId}`);
      return channel;
    },
  };
}

export type ChannelRegistry = ReturnType<typeof createChannelRegistry>;
