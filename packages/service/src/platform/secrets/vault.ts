import { type CipherKey, createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { randomBytes } from '@perennial/wire';
import { PlainError } from '../plain-error.js';

/**
 * Envelope encryption. A master key encrypts ("wraps") other keys. Each channel has its own data key, which encrypts
 * the channel's data. A wrapped key contains its master key's id, so that several master keys can be in use during a
 * change (docs/decisions/0004-secrets.md).
 */
export interface Vault {
  /**
   * Wraps a key, bound to a place. Without a place, uses the unbound form of earlier versions, which opens anywhere.
   */
  wrapKey(key: Uint8Array, place: string | undefined): string;
  /** Throws MisplacedKey if the key was wrapped for another place, or if it is unbound and unbound keys are refused. */
  unwrapKey(wrapped: string, place: string, unbound?: 'refused' | 'accepted'): Uint8Array;
  /** The ids of the known master keys, the current key first. */
  readonly keyIds: readonly [current: string, ...previous: string[]];
  /**
   * Returns the keys derived for one purpose, one from each master key. The key from the current master key comes
   * first.
   */
  derivePurposeKeys(purpose: string): readonly { readonly id: string; readonly key: Uint8Array }[];
}

export class VaultError extends PlainError {}

/** Thrown for a value that does not open: it was sealed for another place or under another key, or was changed. */
export class MisplacedKey extends VaultError {}

/** The second of three parts of a key that is bound to its place. Keys of earlier versions have two parts. */
const BOUND = '2';

export const isBoundKey = (wrapped: string): boolean => wrapped.split('.')[1] === BOUND;

/** Returns the start of every bound key under the current master key. */
export const currentKeyPrefix = ({ keyIds }: Vault): string => `${keyIds[0]}.${BOUND}.`;

const UNBOUND_PLACE = 'data key';

export function openVault(masterKeys: readonly Uint8Array[]): Vault {
  const keys = masterKeys.map((masterKey) => ({
    id: createHash('sha256').update(deriveKey(masterKey, 'key id')).digest('hex').slice(0, 8),
    masterKey,
    wrapping: deriveKey(masterKey, 'wrap data keys'),
  }));
  const [current] = keys;
  if (!current) throw new VaultError('no master key is set');
  return {
    keyIds: [current.id, ...keys.slice(1).map(({ id }) => id)],
    wrapKey: (key, place) =>
      place === undefined
        ? `${current.id}.${seal(current.wrapping, key, UNBOUND_PLACE)}`
        : `${current.id}.${BOUND}.${seal(current.wrapping, key, place)}`,
    unwrapKey(wrapped, place, unbound = 'refused') {
      const [id = '', sealed = '', bound = ''] = wrapped.split('.');
      const key = keys.find((one) => one.id === id);
      if (!key) throw new VaultError(`no master key ${id}: set it as MASTER_KEY or MASTER_KEY_PREVIOUS`);
      if (isBoundKey(wrapped)) return unseal(key.wrapping, bound, place);
      if (unbound === 'accepted') return unseal(key.wrapping, sealed, UNBOUND_PLACE);
      throw new MisplacedKey(`the ${place} is not bound to its place, but all keys of this installation are`);
    },
    derivePurposeKeys: (purpose) => keys.map(({ id, masterKey }) => ({ id, key: deriveKey(masterKey, purpose) })),
  };
}

export function createKey(): Uint8Array {
  return randomBytes(32);
}

function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, 'perennial', purpose, 32));
}

/**
 * Encrypts by AES-256-GCM, and returns base64url of IV, ciphertext and tag. `place` is authenticated: a value that was
 * moved to a different place cannot be decrypted. Pass a key object, because with bytes Node 24 takes ten times as
 * long.
 */
export function seal(key: CipherKey, plain: Uint8Array, place: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

export function unseal(key: CipherKey, sealed: string, place: string): Uint8Array {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < 28) throw new MisplacedKey('a sealed value is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch {
    throw new MisplacedKey(`the sealed ${place} does not open with this key`);
  }
}
