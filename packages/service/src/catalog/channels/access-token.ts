import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { Rejection, TOKEN_LIFETIME_SECONDS } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';
import type { Vault } from '../../platform/secrets/vault.js';
import type { Channel } from './channel.js';

// The claims, with their lengths in bytes: version (1), channel id (8), token epoch (4), expiry in Unix seconds (6) and
// random part (9).
const CLAIMS_BYTES = 28;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{80}$/;
const MAX_REMEMBERED_TOKENS = 10_000;

interface TokenClaims {
  readonly channelId: number;
  readonly tokenEpoch: number;
  readonly expiresAt: number;
}

/**
 * Creates and checks access tokens. A token contains its claims and a MAC with a key of the installation. So every node
 * can check it, even after a restart, and nothing is stored. A token ends at its expiry, and all tokens of a channel
 * end when its token epoch is raised (docs/decisions/0005-access-tokens.md).
 */
export function createAccessTokens(vault: Vault, clock: Clock) {
  const keys = vault.derivePurposeKeys('access tokens').map(({ key }) => createSecretKey(key));
  const [current] = keys;
  if (!current) throw new Error('a vault has at least one key');
  const verifiedTokens = new Map<string, TokenClaims>();
  const mac = (key: KeyObject, claims: Uint8Array) => createHmac('sha256', key).update(claims).digest();

  return {
    issue(channel: Channel): { accessToken: string; expiresAt: number } {
      const expiresAt = Math.floor(clock.now() / 1000) + TOKEN_LIFETIME_SECONDS;
      const claims = Buffer.alloc(CLAIMS_BYTES);
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
    /** Throws TOKEN_INVALID or TOKEN_EXPIRED. */
    check(token: string, channel: Channel): void {
      const fault = findFault(token, channel);
      if (fault) throw new Rejection(fault);
    },
    /**
     * Returns the id of the channel to which this installation issued the token, even if the token has expired. Else
     * undefined.
     */
    channelIdOf: (token: string): number | undefined => verifyClaims(token)?.channelId,
    isLive: (token: string, channel: Channel | undefined): boolean =>
      channel !== undefined && findFault(token, channel) === undefined,
  };

  function findFault(token: string, channel: Channel): 'TOKEN_INVALID' | 'TOKEN_EXPIRED' | undefined {
    const claims = verifyClaims(token);
    if (!claims || claims.channelId !== channel.channelId || claims.tokenEpoch !== channel.tokenEpoch) {
      return 'TOKEN_INVALID';
    }
    return clock.now() < claims.expiresAt ? undefined : 'TOKEN_EXPIRED';
  }

  /** Returns the claims of a token with a correct MAC. Caches them, so that the MAC is rarely computed again. */
  function verifyClaims(token: string): TokenClaims | undefined {
    const known = verifiedTokens.get(token);
    if (known || !TOKEN_PATTERN.test(token)) return known;
    const bytes = Buffer.from(token, 'base64url');
    const claims = bytes.subarray(0, CLAIMS_BYTES);
    const genuine = keys.some((key) => timingSafeEqual(mac(key, claims), bytes.subarray(CLAIMS_BYTES)));
    if (!genuine || claims.readUInt8(0) !== 1) return undefined;
    const read = {
      channelId: Number(claims.readBigUInt64BE(1)),
      tokenEpoch: claims.readUInt32BE(9),
      expiresAt: claims.readUIntBE(13, 6) * 1000,
    };
    if (verifiedTokens.size >= MAX_REMEMBERED_TOKENS) verifiedTokens.clear();
    verifiedTokens.set(token, read);
    return read;
  }
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;
