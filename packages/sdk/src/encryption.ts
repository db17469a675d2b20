import { decryptField, type EncryptionVersion, encryptField, hmacSha256 } from '@perennial/wire';
import { type Decrypt, type Encrypt, plainName } from './fields.js';

const IV_BYTES: Readonly<Record<EncryptionVersion, number>> = { v1: 16, v2: 12 };

/**
 * A write that is sent again must be the same byte for byte, also by a process that has started anew since. So its IVs are
 * derived from its Idempotency-Key, the place of the field and the text: they are equal only where the whole ciphertext may be,
 * and as good as random to whoever has not the key.
 */
export function encrypterOf(aesKey: Uint8Array, version: EncryptionVersion, idempotencyKey?: string): Encrypt {
  if (idempotencyKey === undefined) return (text) => encryptField(text, aesKey, version);
  const ivKey = hmacSha256(aesKey, 'perennial-channel iv');
  return (text, place) => {
    const iv = hmacSha256(ivKey, `${version}\n${idempotencyKey}\n${place}\n${text}`).slice(0, IV_BYTES[version]);
    return encryptField(text, aesKey, version, iv);
  };
}

export function decrypterOf(aesKey: Uint8Array): Decrypt {
  return (value, field) => {
    try {
      return decryptField(value, aesKey);
    } catch {
      throw new DecryptionError(plainName(field));
    }
  };
}

/** Something that the service encrypted cannot be read: the aesKey is another channel's, or from before a reset. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  /** Under its plain name. */
  readonly field: string;

  constructor(field: string) {
    super(`${field} cannot be decrypted: is aesKey the one of this channel and environment?`);
    this.field = field;
  }
}
