import { createSecretKey, hkdfSync } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import { seal, unseal } from '../../platform/secrets/vault.js';

export type HashPurpose = 'mobile' | 'card' | 'certificate' | 'pool code';

/** How personal data of a channel's users is stored: sealed under the channel's data key, and found by a keyed hash. */
export function createSealing(dataKey: Uint8Array) {
  const key = createSecretKey(dataKey);
  const lookUpKey = new Uint8Array(hkdfSync('sha256', dataKey, 'perennial', 'look-up', 32));
  return {
    seal: (text: string, place: string): string => seal(key, Buffer.from(text), place),
    unseal: (sealed: string, place: string): string => Buffer.from(unseal(key, sealed, place)).toString(),
    /** The same text has the same hash within one channel and for one purpose. Only with the key can it be computed. */
    hash: (text: string, purpose: HashPurpose): Buffer => Buffer.from(hmacSha256(lookUpKey, `${purpose}\n${text}`)),
  };
}

export type Sealing = ReturnType<typeof createSealing>;
