import {
  aes256CbcDecrypt,
  aes256CbcEncrypt,
  aes256GcmDecrypt,
  aes256GcmEncrypt,
  fromBase64,
  hmacSha256,
  randomBytes,
  toBase64,
} from '#platform';
import type { EncryptionVersion } from './enums.js';
import { Rejection } from './rejection.js';

export const ENCRYPTED_PREFIXES = { v1: 'svc_aes_v1:', v2: 'svc_aes_v2:' } as const satisfies Record<
  EncryptionVersion,
  string
>;

interface Scheme {
  readonly ivBytes: number;
  key(aesKey: Uint8Array): Uint8Array;
  encrypt(key: Uint8Array, iv: Uint8Array, text: Uint8Array): Uint8Array;
  /** Throws on any failure. */
  decrypt(key: Uint8Array, iv: Uint8Array, body: Uint8Array): Uint8Array;
}

/**
 * The two versions. v2 detects tampering, v1 does not. v2 uses a key derived from the aesKey, because using one key in
 * two cipher modes may make both unsafe. A value of one version cannot be read as the other version.
 */
const SCHEMES: Readonly<Record<EncryptionVersion, Scheme>> = {
  v1: { ivBytes: 16, key: (aesKey) => aesKey, encrypt: aes256CbcEncrypt, decrypt: aes256CbcDecrypt },
  v2: {
    ivBytes: 12,
    key: deriveFieldKey,
    encrypt: aes256GcmEncrypt,
    decrypt: aes256GcmDecrypt,
  },
};

/** Caches the derived key of each aesKey array, which never changes. Deriving takes over half as long as decrypting. */
const derivedKeys = new WeakMap<Uint8Array, Uint8Array>();

/** Returns the key for v2, derived from the aesKey. */
export function deriveFieldKey(aesKey: Uint8Array): Uint8Array {
  const known = derivedKeys.get(aesKey);
  if (known !== undefined) return known;
  const derived = hmacSha256(aesKey, 'svc_aes_v2');
  derivedKeys.set(aesKey, derived);
  return derived;
}

const KEY_BYTES = 32;

const encoder = new TextEncoder();
/** ignoreBOM keeps a leading U+FEFF, which is part of the text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the version by the value's prefix, or undefined if the prefix is unknown. */
export function encryptionVersionOf(value: string): EncryptionVersion | undefined {
  if (value.startsWith(ENCRYPTED_PREFIXES.v1)) return 'v1';
  return value.startsWith(ENCRYPTED_PREFIXES.v2) ? 'v2' : undefined;
}

/**
 * Encrypts a text, by default with v1, which every channel can read. `iv` is for known-answer tests: never use one
 * twice.
 */
export function encryptField(
  text: string,
  aesKey: Uint8Array,
  version: EncryptionVersion = 'v1',
  iv: Uint8Array = randomBytes(SCHEMES[version].ivBytes),
): string {
  const scheme = SCHEMES[version];
  const body = scheme.encrypt(scheme.key(requireKeyLength(aesKey)), iv, encoder.encode(text));
  const bytes = new Uint8Array(iv.length + body.length);
  bytes.set(iv);
  bytes.set(body, iv.length);
  return ENCRYPTED_PREFIXES[version] + toBase64(bytes);
}

/**
 * Decrypts either version. All wrong values give the same error: different errors would let clients decrypt v1 values.
 */
export function decryptField(value: string, aesKey: Uint8Array): string {
  requireKeyLength(aesKey);
  const version = encryptionVersionOf(value);
  if (version === undefined) throw new Rejection('DECRYPT_FAILED');
  const scheme = SCHEMES[version];
  const bytes = fromBase64(value.slice(ENCRYPTED_PREFIXES[version].length));
  if (bytes === undefined) throw new Rejection('DECRYPT_FAILED');
  try {
    const [iv, body] = [bytes.subarray(0, scheme.ivBytes), bytes.subarray(scheme.ivBytes)];
    return decoder.decode(scheme.decrypt(scheme.key(aesKey), iv, body));
  } catch {
    throw new Rejection('DECRYPT_FAILED');
  }
}

/** Throws a RangeError for a wrong length, because that is this program's own error. HMAC would accept any length. */
function requireKeyLength(aesKey: Uint8Array): Uint8Array {
  if (aesKey.length !== KEY_BYTES) throw new RangeError(`aesKey of ${aesKey.length} bytes`);
  return aesKey;
}
