import { createSecretKey, hkdfSync } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import { seal, unseal } from '../../platform/secrets/vault.js';

/** How personal data of a channel's users is stored: sealed under the channel's data key, and found by a keyed hash. */
export interface Sealing {
  seal(text: string, place: string): string;
  unseal(sealed: string, place: string): string;
  /** The same text has the same hash within one channel and for one purpose. Only with the key can it be computed. */
  hash(text: string, purpose: HashPurpose): Buffer;
}

export type HashPurpose = 'mobile' | 'card' | 'certificate' | 'pool code';

export function createSealing(dataKey: Uint8Array): Sealing {
  const key = createSecretKey(dataKey);
  const lookUpKey = new Uint8Array(hkdfSync('sha256', dataKey, 'perennial', 'look-up', 32));
  return {
    seal: (text, place) => seal(key, Buffer.from(text), place),
    unseal: (sealed, place) => Buffer.from(unseal(key, sealed, place)).toString(),
    hash: (text, purpose) => Buffer.from(hmacSha256(lookUpKey, `${purpose}\n${text}`)),
  };
}
