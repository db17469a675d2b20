import { decryptField, type EncryptionVersion, encryptField, hmacSha256 } from '@perennial/wire';
import { type Decrypt, type Encrypt, plainName } from './fields.js';

const IV_BYTES: Readonly<Record<EncryptionVersion, number>> = { v1: 16, v2: 12 };

/**
 * Returns a function that encrypts a field. For a write, the IV is derived from the idempotency key, the field's place
 * and its text, so that a resent write has the same bytes, even after a restart: the service recognises them even after
 * the aesKey was reset. Two IVs are therefore equal only
 * if the whole ciphertexts are equal. To anybody without the key, the IVs look random.
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

/** Thrown if an encrypted value cannot be read. The aesKey may belong to another channel or be outdated. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  /** The field's plain name. */
  readonly field: string;

  constructor(field: string) {
    super(`${field} cannot be decrypted: is aesKey the one of this channel and environment?`);
    this.field = field;
  }
}
