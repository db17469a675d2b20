import { createSecretKey, hkdfSync } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import { MisplacedKey, seal, unseal } from '../../platform/secrets/vault.js';

export type HashPurpose =
  | 'mobile'
  | 'card'
  | 'certificate'
  | 'claim code'
  | 'pool code'
  | 'user'
  | 'address'
  | 'confirmation code'
  | 'request';

export interface SealingKeys {
  /** The key that seals. */
  readonly dataKey: Uint8Array;
  /** Another data key under which values may be sealed while the data key is being replaced. */
  readonly otherKey?: Uint8Array | undefined;
  /**
   * The key of the hashes. Default: derived from the data key. When the data key is replaced, this key is stored and
   * stays the same.
   */
  readonly lookUpKey?: Uint8Array | undefined;
}

/** Seals personal data of a channel's users under its data key, and hashes it with a key for look-ups. */
export function createSealing({ dataKey, otherKey, lookUpKey = deriveLookUpKey(dataKey) }: SealingKeys) {
  const key = createSecretKey(dataKey);
  const other = otherKey && createSecretKey(otherKey);

  /** Returns the value, and whether it was sealed under the other key. */
  function open(sealed: string, place: string): { readonly plain: Uint8Array; readonly isUnderOther: boolean } {
    try {
      return { plain: unseal(key, sealed, place), isUnderOther: false };
    } catch (error) {
      if (!other || !(error instanceof MisplacedKey)) throw error;
      return { plain: unseal(other, sealed, place), isUnderOther: true };
    }
  }

  return {
    seal: (text: string, place: string): string => seal(key, Buffer.from(text), place),
    unseal: (sealed: string, place: string): string => Buffer.from(open(sealed, place).plain).toString(),
    /**
     * Seals a value under the data key if it was sealed under the other key. Returns undefined if it is already sealed
     * under the data key.
     */
    reseal(sealed: string, place: string): string | undefined {
      const { plain, isUnderOther } = open(sealed, place);
      return isUnderOther ? seal(key, plain, place) : undefined;
    },
    /**
     * Returns the same hash for the same text within one channel and purpose. Only a holder of the key can compute it.
     */
    hash: (text: string, purpose: HashPurpose): Buffer => Buffer.from(hmacSha256(lookUpKey, `${purpose}\n${text}`)),
  };
}

export type Sealing = ReturnType<typeof createSealing>;

export function deriveLookUpKey(dataKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', dataKey, 'perennial', 'look-up', 32));
}
