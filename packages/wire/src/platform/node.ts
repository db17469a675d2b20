import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  randomBytes as random,
  timingSafeEqual,
} from 'node:crypto';

export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return plain(createHmac('sha256', key).update(text, 'utf8').digest());
}

export function aes256CbcEncrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  return plain(Buffer.concat([cipher.update(bytes), cipher.final()]));
}

/** Throws when the key, the length or the padding is wrong. */
export function aes256CbcDecrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('aes-256-cbc', key, iv);
  return plain(Buffer.concat([decipher.update(bytes), decipher.final()]));
}

export function randomBytes(length: number): Uint8Array {
  return plain(random(length));
}

export function toBase64(bytes: Uint8Array): string {
  return view(bytes).toString('base64');
}

/** Only the one canonical spelling. Buffer skips what it cannot read, and then writes back something else. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? plain(bytes) : undefined;
}

export function toBase64Url(bytes: Uint8Array): string {
  return view(bytes).toString('base64url');
}

/** As strict as fromBase64, in the URL alphabet and without padding. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? plain(bytes) : undefined;
}

/** Constant time in the contents; lengths are no secret. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A Buffer's slice and toString differ from a Uint8Array's; callers get what the browser would give them. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
