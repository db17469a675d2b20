import { aes256CbcDecrypt, aes256GcmDecrypt, fromBase64, fromBase64Url, toBase64 } from '#platform';
import { deriveFieldKey, ENCRYPTED_PREFIXES, encryptionVersionOf } from '../encrypted-fields.js';
import type { EncryptionVersion } from '../enums.js';
import { fromHex } from './hex.js';

/** The reason why an encrypted field cannot be read. The hint contains no part of the field or its plaintext. */
export interface FieldDiagnosis {
  readonly cause: 'prefix' | 'base64' | 'length' | 'key';
  readonly hint: string;
}

/** One channel's secrets, decoded. */
export interface FieldSecrets {
  readonly aesKey: Uint8Array;
  readonly appSecret?: Uint8Array | undefined;
  readonly callbackSecret?: Uint8Array | undefined;
  /**
   * If false, the diagnosis does not test whether a v2 value is really a v1 value, because this test would be a padding
   * oracle. The caller must itself refuse v1 values.
   */
  readonly acceptsV1?: boolean | undefined;
}

const AES_KEY_BYTES = 32;
const BLOCK = 16;
const V2_IV = 12;
const V2_TAG = 16;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Explains why decryptField refuses a value. Do not use it for v1 values with real data. */
export function diagnoseField(value: string, secrets: FieldSecrets): FieldDiagnosis {
  const version = encryptionVersionOf(value);
  if (version === undefined) return { cause: 'prefix', hint: explainPrefix(value) };
  const text = value.slice(ENCRYPTED_PREFIXES[version].length);
  const bytes = fromBase64(text);
  if (bytes === undefined) return { cause: 'base64', hint: explainBase64(text) };
  const other = version === 'v1' ? 'v2' : 'v1';
  if ((other === 'v2' || secrets.acceptsV1 !== false) && isReadable(other, bytes, secrets.aesKey)) {
    return { cause: 'prefix', hint: `it is encrypted as ${nameOf(other)}, but has the prefix of ${nameOf(version)}` };
  }
  const length = explainLength(version, bytes.length);
  if (length !== undefined) return { cause: 'length', hint: length };
  return { cause: 'key', hint: explainKey(version, bytes, secrets) };
}

const nameOf = (version: EncryptionVersion) => ENCRYPTED_PREFIXES[version].slice(0, -1);

function explainPrefix(value: string): string {
  const begins = (pattern: RegExp) => pattern.test(value);
  if (begins(/^\s+svc_aes_v[12]:/)) return 'there is white space before the prefix';
  if (begins(/^svc_aes_v[12]:/i)) return 'the prefix is in capitals: svc_aes_v2: is in lower case';
  if (begins(/^svc_aes_v[12]/i)) return 'the colon after the prefix is missing: svc_aes_v2:';
  return 'it begins with neither svc_aes_v2: nor svc_aes_v1:';
}

function explainBase64(text: string): string {
  if (/\s/.test(text)) return 'there is white space or a line break in the base64 after the prefix';
  if (fromHex(text) !== undefined) return 'the part after the prefix is hex, not base64';
  if (fromBase64Url(text.replace(/(?<!=)=+$/, '')) !== undefined) {
    return /[-_]/.test(text)
      ? 'the part after the prefix is base64url: use the standard alphabet with + and /, and = at the end'
      : 'the = at the end of the base64 is missing';
  }
  return 'the part after the prefix is not base64';
}

function explainLength(version: EncryptionVersion, length: number): string | undefined {
  if (version === 'v2') {
    return length < V2_IV + V2_TAG
      ? 'it is too short: it must be an IV of 12 bytes, the ciphertext and a tag of 16 bytes'
      : undefined;
  }
  if (length < 2 * BLOCK) return 'it is too short: it must be an IV of 16 bytes and the ciphertext';
  return length % BLOCK === 0
    ? undefined
    : 'its length is not a multiple of 16 bytes: send the IV, then blocks with PKCS#7 padding';
}

const KEY_OR_BYTES = 'the key or the bytes are wrong';
const V2_LAYOUT = `${KEY_OR_BYTES}: the IV has 12 bytes, the tag follows the ciphertext, there is no additional data`;

function explainKey(version: EncryptionVersion, bytes: Uint8Array, secrets: FieldSecrets): string {
  const { aesKey, appSecret, callbackSecret } = secrets;
  const text = encoder.encode(toBase64(aesKey));
  const isUnder = (key: Uint8Array | undefined) => key !== undefined && isReadable(version, bytes, key);
  if (isUnder(appSecret)) return 'it is encrypted under the appSecret: use the aesKey';
  if (isUnder(callbackSecret)) return 'it is encrypted under the callbackSecret: use the aesKey';
  if (isUnder(text) || isUnder(text.slice(0, AES_KEY_BYTES))) return NOT_DECODED;
  if (version === 'v1') {
    return isOpen(() => aes256CbcDecrypt(deriveFieldKey(aesKey), bytes.subarray(0, BLOCK), bytes.subarray(BLOCK)))
      ? 'it is encrypted under the key of svc_aes_v2: for svc_aes_v1 use the aesKey itself'
      : KEY_OR_BYTES;
  }
  return explainV2(bytes, aesKey, text);
}

const NOT_DECODED = 'it is encrypted under the text of the aesKey: decode it from base64 first';
const NOT_DERIVED = 'it is encrypted under the aesKey itself: for svc_aes_v2 derive the key from it';

function explainV2(bytes: Uint8Array, aesKey: Uint8Array, text: Uint8Array): string {
  const [iv, body] = [bytes.subarray(0, V2_IV), bytes.subarray(V2_IV)];
  const key = deriveFieldKey(aesKey);
  if (isOpen(() => aes256GcmDecrypt(aesKey, iv, body))) return NOT_DERIVED;
  if (isOpen(() => aes256GcmDecrypt(text.slice(0, AES_KEY_BYTES), iv, body)))
    return `${NOT_DECODED}, then derive the key`;
  if (isOpen(() => aes256GcmDecrypt(key, iv, withTagBehind(body)))) {
    return `${KEY_OR_BYTES}: the tag is before the ciphertext, append it instead`;
  }
  if (!throws(() => aes256GcmDecrypt(key, iv, body))) return 'the key is right, but the decrypted text is not UTF-8';
  return V2_LAYOUT;
}

function withTagBehind(body: Uint8Array): Uint8Array {
  const turned = new Uint8Array(body.length);
  turned.set(body.subarray(V2_TAG));
  turned.set(body.subarray(0, V2_TAG), body.length - V2_TAG);
  return turned;
}

function isReadable(version: EncryptionVersion, bytes: Uint8Array, aesKey: Uint8Array): boolean {
  return version === 'v1'
    ? isOpen(() => aes256CbcDecrypt(aesKey, bytes.subarray(0, BLOCK), bytes.subarray(BLOCK)))
    : isOpen(() => aes256GcmDecrypt(deriveFieldKey(aesKey), bytes.subarray(0, V2_IV), bytes.subarray(V2_IV)));
}

/**
 * Returns true if decryption gives text. With v1, a wrong key also gives text, in less than one of a million attempts.
 * With v2, a wrong key never gives text.
 */
function isOpen(decrypt: () => Uint8Array): boolean {
  return !throws(() => decoder.decode(decrypt()));
}

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}
