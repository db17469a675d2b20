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
  /** Throws whatever is wrong. */
  decrypt(key: Uint8Array, iv: Uint8Array, body: Uint8Array): Uint8Array;
}

/**
 * v2 is authenticated, v1 is not: it can be changed on its way. The key of v2 is derived from the aesKey: the same key in two
 * modes is safe in neither, and a value of one form cannot be read as the other.
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

/**
 * By the bytes they were derived from, which are never changed in place. Deriving one takes more than half as long as
 * decrypting.
 */
const derivedKeys = new WeakMap<Uint8Array, Uint8Array>();

/** The key of v2. */
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

/** By the prefix of the value. Undefined when it has none. */
export function encryptionVersionOf(value: string): EncryptionVersion | undefined {
  if (value.startsWith(ENCRYPTED_PREFIXES.v1)) return 'v1';
  return value.startsWith(ENCRYPTED_PREFIXES.v2) ? 'v2' : undefined;
}

/** v1 by default, which every channel can read. The iv is an argument for tests with known answers: never use one twice. */
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

/** Reads either form. Every failure has the same answer: of v1, a client that could tell them apart could decrypt the text. */
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

/** A wrong key is an error of this side, not of the channel. HMAC would accept a key of any length. */
function requireKeyLength(aesKey: Uint8Array): Uint8Array {
  if (aesKey.length !== KEY_BYTES) throw new RangeError(`aesKey of ${aesKey.length} bytes`);
  return aesKey;
}
