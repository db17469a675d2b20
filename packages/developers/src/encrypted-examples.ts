import { encryptField, sha256Hex } from '@perennial/wire';
import { bytesOf, DEMONSTRATION } from './demonstration.js';

export type Encrypt = (text: string, path: string) => unknown;

/** Returns a copy of the value, with `encrypt` applied to each text field whose name ends in Encrypted. */
export function encryptFields(value: unknown, encrypt: Encrypt, path = ''): unknown {
  if (Array.isArray(value)) return value.map((one, index) => encryptFields(one, encrypt, `${path}.${index}`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const place = `${path}.${name}`;
      const isText = name.endsWith('Encrypted') && typeof field === 'string';
      return [name, isText ? encrypt(field, place) : encryptFields(field, encrypt, place)];
    }),
  );
}

const key = bytesOf(DEMONSTRATION.aesKey);

/** Encrypts with an IV derived from path and text, so that all builds are equal. Real clients must not do so. */
export function encryptForShow(text: string, path: string): string {
  const iv = Buffer.from(sha256Hex(Buffer.from(`${path} ${text}`)), 'hex').subarray(0, 12);
  return encryptField(text, key, 'v2', iv);
}

export const showEncrypted = (value: unknown): unknown => encryptFields(value, encryptForShow);
