import { aes256CbcDecrypt, aes256CbcEncrypt, fromBase64, randomBytes, toBase64 } from '#platform';
import { Rejection } from './rejection.js';

export const ENCRYPTED_PREFIX = 'svc_aes_v1:';

const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
/** The IV, and at least one block: padding makes even the empty text one block long. */
const MIN_BYTES = 2 * BLOCK_BYTES;

const encoder = new TextEncoder();
/** ignoreBOM keeps a leading U+FEFF, which is part of the text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The iv is an argument for known answers only; reusing one gives away which values are equal. */
export function encryptField(text: string, aesKey: Uint8Array, iv: Uint8Array = randomBytes(BLOCK_BYTES)): string {
  const body = aes256CbcEncrypt(aesKey, iv, encoder.encode(text));
  const bytes = new Uint8Array(BLOCK_BYTES + body.length);
  bytes.set(iv);
  bytes.set(body, BLOCK_BYTES);
  return ENCRYPTED_PREFIX + toBase64(bytes);
}

/** Every failure is one and the same answer: a caller who could tell them apart could read the text bit by bit. */
export function decryptField(value: string, aesKey: Uint8Array): string {
  // A wrong key is a fault of this side and must not be blamed on the channel.
  if (aesKey.length !== KEY_BYTES) throw new RangeError(`aesKey of ${aesKey.length} bytes`);
  if (!value.startsWith(ENCRYPTED_PREFIX)) throw new Rejection('DECRYPT_FAILED');
  const bytes = fromBase64(value.slice(ENCRYPTED_PREFIX.length));
  if (bytes === undefined || bytes.length < MIN_BYTES || bytes.length % BLOCK_BYTES !== 0) {
    throw new Rejection('DECRYPT_FAILED');
  }
  try {
    return decoder.decode(aes256CbcDecrypt(aesKey, bytes.subarray(0, BLOCK_BYTES), bytes.subarray(BLOCK_BYTES)));
  } catch {
    throw new Rejection('DECRYPT_FAILED');
  }
}
