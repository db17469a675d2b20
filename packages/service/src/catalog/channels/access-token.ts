import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Rejection, TOKEN_LIFETIME_SECONDS } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';
import type { Vault } from '../../platform/secrets/vault.js';
import type { Channel } from './channel.js';

/**
 * Access tokens carry what they say, under a key of the installation: any node can check any node's token, also after
 * a restart, with nothing stored. They end with their time, or all at once when the channel's token epoch grows
 * (docs/decisions/0005-access-tokens.md).
 */
export interface AccessTokens {
  issue(channel: Channel): { accessToken: string; expiresAt: number };
  /** Throws TOKEN_INVALID or TOKEN_EXPIRED. */
  check(token: string, channel: Channel): void;
  /** The channel that this installation has issued it to, however long ago. Nothing for any other text. */
  channelIdOf(token: string): number | undefined;
  isLive(token: string, channel: Channel | undefined): boolean;
}

// version 1 | channel id 8 | token epoch 4 | expiry, Unix seconds 6 | random 9
const CLAIMS = 28;
const TOKEN = /^[A-Za-z0-9_-]{80}$/;
const REMEMBERED = 10_000;

interface Claims {
  readonly channelId: number;
  readonly tokenEpoch: number;
  readonly expiresAt: number;
}

export function accessTokens(vault: Vault, clock: Clock): AccessTokens {
  const keys = vault.derivePurposeKeys('access tokens').map(({ key }) => key);
  const [current] = keys;
  if (!current) throw new Error('a vault has at least one key');
  const checked = new Map<string, Claims>();
  const mac = (key: Uint8Array, claims: Uint8Array) => createHmac('sha256', key).update(claims).digest();

  return {
    issue(channel) {
      const expiresAt = Math.floor(clock.now() / 1000) + TOKEN_LIFETIME_SECONDS;
      const claims = Buffer.alloc(CLAIMS);
      claims.writeUInt8(1, 0);
      claims.writeBigUInt64BE(BigInt(channel.channelId), 1);
      claims.writeUInt32BE(channel.tokenEpoch, 9);
      claims.writeUIntBE(expiresAt, 13, 6);
      randomBytes(9).copy(claims, 19);
      return {
        accessToken: Buffer.concat([claims, mac(current, claims)]).toString('base64url'),
        expiresAt: expiresAt * 1000,
      };
    },
    check(token, channel) {
      const fault = faultOf(token, channel);
      if (fault) throw new Rejection(fault);
    },
    channelIdOf: (token) => genuineClaims(token)?.channelId,
    isLive: (token, channel) => channel !== undefined && faultOf(token, channel) === undefined,
  };

  function faultOf(token: string, channel: Channel): 'TOKEN_INVALID' | 'TOKEN_EXPIRED' | undefined {
    const claims = genuineClaims(token);
    if (!claims || claims.channelId !== channel.channelId || claims.tokenEpoch !== channel.tokenEpoch) {
      return 'TOKEN_INVALID';
    }
    return clock.now() < claims.expiresAt ? undefined : 'TOKEN_EXPIRED';
  }

  /** What a token says, once its MAC has been found right; the next request with it need not compute that again. */
  function genuineClaims(token: string): Claims | undefined {
    const known = checked.get(token);
    if (known || !TOKEN.test(token)) return known;
    const bytes = Buffer.from(token, 'base64url');
    const claims = bytes.subarray(0, CLAIMS);
    const genuine = keys.some((key) => timingSafeEqual(mac(key, claims), bytes.subarray(CLAIMS)));
    if (!genuine || claims.readUInt8(0) !== 1) return undefined;
    const read = {
      channelId: Number(claims.readBigUInt64BE(1)),
      tokenEpoch: claims.readUInt32BE(9),
      expiresAt: claims.readUIntBE(13, 6) * 1000,
    };
    if (checked.size >= REMEMBERED) checked.clear();
    checked.set(token, read);
    return read;
  }
}
