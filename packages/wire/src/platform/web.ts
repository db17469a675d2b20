import { cbc, gcm } from '@noble/ciphers/aes.js';
import { equalBytes as equal } from '@noble/ciphers/utils.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes as random } from '@noble/hashes/utils.js';

const KEY_BYTES = 32;
const GCM_IV_BYTES = 12;
const encoder = new TextEncoder();

export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return hmac(sha256, key, encoder.encode(text));
}

export function hmacSha256Base64(key: Uint8Array, text: string): string {
  return toBase64(hmacSha256(key, text));
}

export function aes256CbcEncrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  return cbc(aes256Key(key), iv).encrypt(bytes);
}

/** Decrypts AES-256-CBC. Throws if a length or the padding is wrong, as with most wrong keys. */
export function aes256CbcDecrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  return cbc(aes256Key(key), iv).decrypt(bytes);
}

/** Encrypts with AES-256-GCM. Returns the ciphertext followed by its 16-byte tag. */
export function aes256GcmEncrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  return gcm(aes256Key(key), gcmIv(iv)).encrypt(bytes);
}

/** Decrypts AES-256-GCM. Throws if key or length is wrong, or if the tag does not match key, IV and ciphertext. */
export function aes256GcmDecrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  return gcm(aes256Key(key), gcmIv(iv)).decrypt(bytes);
}

export function randomBytes(length: number): Uint8Array {
  return random(length);
}

export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes);
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes canonical base64. Encodes the result again to compare, because atob accepts other forms too. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = decode(text);
  return bytes !== undefined && toBase64(bytes) === text ? bytes : undefined;
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes canonical base64url without padding. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = decode(text.replaceAll('-', '+').replaceAll('_', '/'));
  return bytes !== undefined && toBase64Url(bytes) === text ? bytes : undefined;
}

/** Compares in constant time if the lengths are equal. Lengths are not secret. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return equal(a, b);
}

function decode(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Throws unless the key has 32 bytes. With a shorter key the cipher would silently become AES-128 or AES-192. */
function aes256Key(key: Uint8Array): Uint8Array {
  if (key.length !== KEY_BYTES) throw new RangeError(`AES-256 key of ${key.length} bytes`);
  return key;
}

/** Throws unless the IV has 12 bytes. GCM would hash an IV of any other length, which weakens the encryption. */
function gcmIv(iv: Uint8Array): Uint8Array {
  if (iv.length !== GCM_IV_BYTES) throw new RangeError(`GCM IV of ${iv.length} bytes`);
  return iv;
}
