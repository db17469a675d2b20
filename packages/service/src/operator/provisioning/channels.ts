import { randomInt, timingSafeEqual } from 'node:crypto';
import { MAX_OVERLAP_HOURS, type Static } from '@perennial/wire';
import { openChannelKeys } from '../../catalog/channels/channel-keys.js';
import {
  type ChannelView,
  describeChannels,
  endAccessTokens,
  forgetFormerAppSecret,
  insertChannel,
  keepEndedAppSecret,
  keepFormerAppSecret,
  storeChannelStatus,
  storeCredentials,
  storeLookUpKey,
} from '../../catalog/channels/channel-provisioning-sql.js';
import type { ChannelRow } from '../../catalog/channels/channels-sql.js';
import {
  CREDENTIAL_NAMES,
  type CredentialName,
  type Credentials,
  createCredentials,
  openCredentials,
  sealCredentials,
} from '../../catalog/channels/credentials.js';
import { deriveLookUpKey } from '../../catalog/channels/sealing.js';
import type { Queryable } from '../../platform/db/database.js';
import { bindsKeys, keyPlaces, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import { createKey } from '../../platform/secrets/vault.js';
import type { Environment } from '../../platform/settings.js';
import { insertRotation } from '../../subscriptions/store/reseal-sql.js';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator, refusal } from '../operator.js';
import { quoted, requireInteger, requireName, requireOneOf, requireUnique } from '../rules.js';
import type { channelRequest } from '../schemas/setup.js';
import { changeChannel, requireChannelView } from './channel-change.js';
import { requireLimits } from './channel-settings.js';

/** The credentials in base64, as channels configure them. */
export type OneTimeCredentials = Readonly<Record<CredentialName, string>>;

/** Creates a channel, with a random app id unless one is given. The credentials are shown only in this result. */
export async function createChannel(
  operator: Operator,
  input: Static<typeof channelRequest>,
): Promise<ChannelView & OneTimeCredentials> {
  const appId = input.appId === undefined ? randomAppId(operator.environment) : requireAppId(operator, input.appId);
  const name = requireName('the name', input.name);
  const { ratePerSecond, rateBurst } = requireLimits({
    ratePerSecond: input.ratePerSecond ?? DEFAULT_RATE[operator.environment],
    ...(input.rateBurst === undefined ? {} : { rateBurst: input.rateBurst }),
  });
  const credentials = createCredentials();
  const key = createKey();
  const sealed = sealCredentials(key, appId, credentials);
  const channel = await inTransaction(operator, async (tx) => {
    const dataKey = await wrapStoredKey(tx, operator.vault, key, keyPlaces.dataKey(appId));
    if (!(await insertChannel(tx, { appId, name, ratePerSecond, rateBurst, dataKey, ...sealed }))) {
      throw refusal('channel-exists')`there is already a channel ${quoted(appId)}`;
    }
    const detail = { name, ratePerSecond, rateBurst };
    await recordAudit(tx, { actor: operator.actor, action: 'channel.create', subject: appId, detail });
    return requireChannelView(tx, appId);
  });
  return {
    ...channel,
    appSecret: toBase64Text(credentials.appSecret),
    aesKey: toBase64Text(credentials.aesKey),
    callbackSecret: toBase64Text(credentials.callbackSecret),
  };
}

export async function listChannels(operator: Operator): Promise<ChannelView[]> {
  return describeChannels(operator.database);
}

export async function showChannel(operator: Operator, input: { readonly appId: string }): Promise<ChannelView> {
  return requireChannelView(operator.database, input.appId);
}

export async function suspendChannel(operator: Operator, { appId }: { readonly appId: string }) {
  return changeStatus(operator, appId, 'channel.suspend', 'SUSPENDED');
}

export async function resumeChannel(operator: Operator, { appId }: { readonly appId: string }) {
  return changeStatus(operator, appId, 'channel.resume', 'ACTIVE');
}

async function changeStatus(operator: Operator, appId: string, action: string, status: ChannelRow['status']) {
  return changeChannel(operator, appId, action, async (tx, channel) => {
    if (channel.status === status) return undefined;
    await storeChannelStatus(tx, channel.channelId, status);
    return { from: channel.status, to: status };
  });
}

interface ResetCredentialsInput {
  readonly appId: string;
  /** Unset: all three. */
  readonly names?: readonly string[];
  /** Hours for which the former app secret remains valid. Unset or 0: it ends at once. */
  readonly overlapHours?: number;
}

/**
 * Replaces secrets and returns the new ones, which are shown only now. The old secrets and all access tokens become
 * invalid at once. With an overlap, the old app secret stays valid for that time, and access tokens stay valid until
 * they expire. The other secrets cannot overlap, because each side uses a single value at a time.
 */
export async function resetCredentials(
  operator: Operator,
  { appId, names = CREDENTIAL_NAMES, overlapHours = 0 }: ResetCredentialsInput,
): Promise<Changed<ChannelView> & Partial<OneTimeCredentials>> {
  const chosen = names.map((name) => requireOneOf('a credential to reset', name, CREDENTIAL_NAMES));
  if (chosen.length === 0) throw refusal('no-credential-named')`no credential to reset is named`;
  requireUnique('credential', chosen);
  requireInteger('the hours of overlap', overlapHours, 0, MAX_OVERLAP_HOURS);
  if (overlapHours > 0 && !chosen.includes('appSecret'))
    throw refusal('only-app-secret-overlaps')`only the app secret can overlap with the former one`;
  const fresh = createCredentials();
  const reset = Object.fromEntries(chosen.map((name) => [name, fresh[name]]));
  const channel = await replaceCredentials(operator, { appId, secrets: reset, overlapHours });
  return { ...channel, ...Object.fromEntries(chosen.map((name) => [name, toBase64Text(fresh[name])])) };
}

/**
 * Replaces the given secrets, as `resetCredentials` does. Changes nothing if all of them are already in use, so that a
 * repeated request does not end the overlap of the first.
 */
export async function replaceCredentials(
  operator: Operator,
  {
    appId,
    secrets,
    overlapHours,
  }: { readonly appId: string; readonly secrets: Partial<Credentials>; readonly overlapHours: number },
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.reset-credentials', async (tx, row) => {
    const { dataKey } = await openChannelKeys(tx, operator.vault, row);
    const current = openCredentials(dataKey, appId, row);
    const chosen = CREDENTIAL_NAMES.filter((name) => {
      const secret = secrets[name];
      return secret !== undefined && !timingSafeEqual(secret, current[name]);
    });
    if (chosen.length === 0) return undefined;
    const rollsAppSecret = chosen.includes('appSecret');
    const overlaps = rollsAppSecret && overlapHours > 0;
    if (overlaps) await keepFormerAppSecret(tx, row.channelId, overlapHours);
    else if (rollsAppSecret) await endFormerAppSecret(tx, operator.environment, row.channelId);
    await storeCredentials(tx, {
      channelId: row.channelId,
      ...sealCredentials(dataKey, appId, { ...current, ...secrets }),
    });
    if (!overlaps) await endAccessTokens(tx, row.channelId);
    return { credentials: chosen, ...(overlaps ? { overlapHours } : {}) };
  });
}

/**
 * Ends the replaced app secret at once. The sandbox still stores the secret, to recognise a channel that still signs
 * with it.
 */
function endFormerAppSecret(tx: Queryable, environment: Environment, channelId: number): Promise<void> {
  return environment === 'sandbox' ? keepEndedAppSecret(tx, channelId) : forgetFormerAppSecret(tx, channelId);
}

/**
 * Begins to replace the data key of a channel: stores the new key beside the current one. The engine then switches to
 * the new key and seals the channel's values again, under the new key, while the channel is served. Hashes for look-ups
 * keep their key, which is stored from now on.
 */
export async function rotateDataKey(operator: Operator, { appId }: { readonly appId: string }) {
  const { vault } = operator;
  return changeChannel(operator, appId, 'channel.rotate-data-key', async (tx, channel) => {
    if (!(await bindsKeys(tx, vault))) {
      throw refusal('keys-not-bound')`run master-key rewrap first, when no node of an earlier version runs`;
    }
    if (channel.otherDataKey !== null) {
      throw refusal('data-key-in-rotation')`the data key of ${quoted(appId)} is already being replaced`;
    }
    if (channel.lookUpKey === null) {
      const { dataKey } = await openChannelKeys(tx, vault, channel);
      const place = keyPlaces.lookUpKey(appId);
      await storeLookUpKey(tx, channel.channelId, await wrapStoredKey(tx, vault, deriveLookUpKey(dataKey), place));
    }
    const next = await wrapStoredKey(tx, vault, createKey(), keyPlaces.otherDataKey(appId));
    await insertRotation(tx, channel.channelId, next);
    return {};
  });
}

export async function revokeTokens(operator: Operator, { appId }: { readonly appId: string }) {
  return changeChannel(operator, appId, 'channel.revoke-tokens', async (tx, channel) => {
    await endAccessTokens(tx, channel.channelId);
    return { tokenEpoch: channel.tokenEpoch + 1 };
  });
}

const DEFAULT_RATE: Readonly<Record<Environment, number>> = { sandbox: 50, production: 200 };

const APP_ID = /^[a-z0-9_]{3,64}$/;
const APP_ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

function requireAppId({ environment }: Operator, appId: string): string {
  if (!APP_ID.test(appId)) {
    throw refusal('app-id-malformed')`an app id must be 3 to 64 characters of a-z, 0-9 and _, not ${quoted(appId)}`;
  }
  if (appId.startsWith('test_') !== (environment === 'sandbox')) {
    const rule = environment === 'sandbox' ? 'must start with test_' : 'must not start with test_';
    throw refusal(
      'app-id-not-of-environment',
    )`an app id of the ${environment} environment ${rule}, unlike ${quoted(appId)}`;
  }
  return appId;
}

function randomAppId(environment: Environment): string {
  const letters = Array.from({ length: 16 }, () => APP_ID_LETTERS[randomInt(APP_ID_LETTERS.length)]);
  return `${environment === 'sandbox' ? 'test_' : 'app_'}${letters.join('')}`;
}

function toBase64Text(secret: Uint8Array): string {
  return Buffer.from(secret).toString('base64');
}
