import { openChannelKeys } from '../../catalog/channels/channel-keys.js';
import {
  lockChannel,
  raiseChannelVersion,
  storeSwitchedKeys,
} from '../../catalog/channels/channel-provisioning-sql.js';
import type { ChannelRow } from '../../catalog/channels/channels-sql.js';
import {
  openCredentials,
  openFormerAppSecret,
  sealCredentials,
  sealFormerAppSecret,
} from '../../catalog/channels/credentials.js';
import { createSealing, type Sealing, type SealingKeys } from '../../catalog/channels/sealing.js';
import type { Queryable } from '../../platform/db/database.js';
import { keyPlaces, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import { MisplacedKey, type Vault } from '../../platform/secrets/vault.js';
import { claimCodePlace } from '../domain/benefits/claim-code.js';
import { formatClaimNo } from '../domain/benefits/claim-numbers.js';
import { detailsPlace, institutionNoPlace } from '../store/agreements/card.js';
import {
  deleteRotation,
  endRound,
  lockRotation,
  type Rotation,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
  storePosition,
  storeSwitched,
} from '../store/reseal-sql.js';
import { loginMobilePlace } from './users/login-mobile.js';

const ROWS_PER_STEP = 500;

export interface ResealStep {
  readonly appId: string;
  readonly did: 'switched' | 'resealed' | 'finished';
  /** The number of values in this step that neither key opens. They stay as they are. */
  readonly unreadable: number;
}

/**
 * Continues the replacement of one channel's data key by one step. Returns undefined if there is nothing to do now. The
 * position is stored with each step, so any node can continue after a crash (docs/decisions/0004-secrets.md).
 */
export async function resealNextRows(tx: Queryable, vault: Vault): Promise<ResealStep | undefined> {
  const rotation = await lockRotation(tx);
  if (!rotation) return undefined;
  const { appId, channelId } = rotation;
  const channel = await lockChannel(tx, appId);
  if (!channel) throw new Error(`there is no channel ${appId}`);
  const keys = await openChannelKeys(tx, vault, channel);
  if (!keys.otherKey) throw new Error(`channel ${appId} has no other data key`);
  if (!rotation.isSwitched) {
    await switchKeys(tx, vault, channel, keys, keys.otherKey);
    return { appId, did: 'switched', unreadable: 0 };
  }
  const table = SEALED_TABLES[rotation.stage];
  if (!table) {
    if (rotation.isLast && !rotation.found) {
      await deleteRotation(tx, channelId);
      await raiseChannelVersion(tx, channelId);
      return { appId, did: 'finished', unreadable: 0 };
    }
    await endRound(tx, channelId, rotation.found);
    return { appId, did: 'resealed', unreadable: 0 };
  }
  const unreadable = await resealRows(tx, rotation, table, createSealing(keys));
  return { appId, did: 'resealed', unreadable };
}

/**
 * Makes the new key the data key. Seals the credentials under the new key. The other values are sealed later, in
 * rounds.
 */
async function switchKeys(
  tx: Queryable,
  vault: Vault,
  channel: ChannelRow,
  { dataKey }: SealingKeys,
  next: Uint8Array,
) {
  const { channelId, appId, formerAppSecret } = channel;
  await storeSwitchedKeys(tx, {
    channelId,
    dataKey: await wrapStoredKey(tx, vault, next, keyPlaces.dataKey(appId)),
    ...sealCredentials(next, appId, openCredentials(dataKey, appId, channel)),
    formerAppSecret:
      formerAppSecret && sealFormerAppSecret(next, appId, openFormerAppSecret(dataKey, appId, formerAppSecret)),
  });
  await storeSwitched(tx, channelId, await wrapStoredKey(tx, vault, dataKey, keyPlaces.otherDataKey(appId)));
  await raiseChannelVersion(tx, channelId);
}

/** Returns the number of values that neither key opens. */
async function resealRows(tx: Queryable, rotation: Rotation, table: SealedTable, sealing: Sealing): Promise<number> {
  const { channelId, stage } = rotation;
  const rows = await table.list(tx, channelId, rotation.afterRow ?? table.start, ROWS_PER_STEP);
  let unreadable = 0;
  const reseal = (sealed: string | null, place: string): string | undefined => {
    try {
      return sealed ? sealing.reseal(sealed, place) : undefined;
    } catch (error) {
      if (!(error instanceof MisplacedKey)) throw error;
      unreadable += 1;
      return undefined;
    }
  };
  const found = rows.flatMap((row) => {
    const [firstPlace, secondPlace] = placesOf(table, row);
    const first = reseal(row.first, firstPlace);
    const second = reseal(row.second, secondPlace);
    const isFound = first !== undefined || second !== undefined;
    return isFound ? [{ ...row, newFirst: first ?? row.first, newSecond: second ?? row.second }] : [];
  });
  const resealed = found.filter(({ isBusy }) => !isBusy);
  if (resealed.length > 0) {
    await table.store(tx, {
      channelId,
      keys: resealed.map(({ key }) => key),
      formerFirst: resealed.map(({ first }) => first),
      first: resealed.map(({ newFirst }) => newFirst),
      formerSecond: resealed.map(({ second }) => second),
      second: resealed.map(({ newSecond }) => newSecond),
    });
  }
  const hasFound = rotation.found || found.length > 0;
  const last = rows.at(-1);
  if (last && rows.length === ROWS_PER_STEP) await storePosition(tx, channelId, stage, last.key, hasFound);
  else await storePosition(tx, channelId, stage + 1, null, hasFound);
  return unreadable;
}

function placesOf({ name }: SealedTable, { key, userId }: SealedRow): readonly [first: string, second: string] {
  if (name === 'users') return [loginMobilePlace(userId ?? ''), ''];
  if (name === 'agreements') return [detailsPlace(Number(key)), institutionNoPlace(Number(key))];
  const [orderNo = 0, cycleNo = 0, position = 0] = key.split('.').map(Number);
  return [claimCodePlace(formatClaimNo({ orderNo, cycleNo, position })), ''];
}
