import { createSecretKey, hkdfSync } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import { seal, unseal } from '../../platform/secrets/vault.js';

export type HashPurpose = 'mobile' | 'card' | 'certificate' | 'pool code';

/** Seals personal data of a channel's users under its data key, and hashes it with a key for look-ups. */
export function createSealing(dataKey: Uint8Array) {
  const key = createSecretKey(dataKey);
  const lookUpKey = new Uint8Array(hkdfSync('sha256', dataKey, 'perennial', 'look-up', 32));
  return {
    seal: (text: string, place: string): string => seal(key, Buffer.from(text), place),
    unseal: (sealed: string, place: string): string => Buffer.from(unseal(key, sealed, place)).toString(),
    /**
     * Returns the same hash for the same text within one channel and purpose. Only a holder of the key can compute it.
     */
    hash: (text: string, purpose: HashPurpose): Buffer => Buffer.from(hmacSha256(lookUpKey, `${purpose}\n${text}`)),
  };
}

export type Sealing = ReturnType<typeof createSealing>;
