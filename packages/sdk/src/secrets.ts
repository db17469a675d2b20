import { fromBase64 } from '@perennial/wire';

const SECRET_BYTES = 32;

/** Returns the bytes of a secret. Error messages contain no part of it. */
export function readSecret(name: string, text: unknown): Uint8Array {
  if (typeof text !== 'string') throw new TypeError(`${name} must be a string: 32 bytes in base64`);
  const bytes = fromBase64(text);
  if (bytes?.length === SECRET_BYTES) return bytes;
  throw new TypeError(`${name} must be 32 bytes in base64, as it was handed over: ${fault(text, bytes)}`);
}

function fault(text: string, bytes: Uint8Array | undefined): string {
  if (bytes !== undefined) return `these are ${bytes.length} bytes`;
  if (text !== text.trim()) return 'there is a space or a line break at one of its ends';
  if (/[-_]/.test(text)) return 'this is base64url';
  return `this is no base64, ${text.length} characters long`;
}
