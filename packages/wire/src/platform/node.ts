import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes as random,
  timingSafeEqual,
} from 'node:crypto';

const GCM_IV_BYTES = 12;
const GCM_TAG_BYTES = 16;

/**
 * Made once for each array of bytes: Node 24 takes 27 µs to find out that what it is given for a cipher is no key object. The bytes of a
 * key are never changed.
 */
const keyObjects = new WeakMap<Uint8Array, KeyObject>();

function toKeyObject(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key);
  if (known) return known;
  const made = createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return plain(createHmac('sha256', toKeyObject(key)).update(text).digest());
}

export function hmacSha256Base64(key: Uint8Array, text: string): string {
  return createHmac('sha256', toKeyObject(key)).update(text).digest('base64');
}

export function aes256CbcEncrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-cbc', toKeyObject(key), iv);
  return plain(Buffer.concat([cipher.update(bytes), cipher.final()]));
}

/** Throws when the key, the length or the padding is wrong. */
export function aes256CbcDecrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('aes-256-cbc', toKeyObject(key), iv);
  return plain(Buffer.concat([decipher.update(bytes), decipher.final()]));
}

/** The ciphertext with the tag of 16 bytes behind it. */
export function aes256GcmEncrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', toKeyObject(key), gcmIv(iv));
  return plain(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
}

/** Throws when the key or the length is wrong, or when the tag does not belong to key, IV and ciphertext. */
export function aes256GcmDecrypt(key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Uint8Array {
  const textBytes = bytes.length - GCM_TAG_BYTES;
  if (textBytes < 0) throw new RangeError('shorter than its tag');
  const decipher = createDecipheriv('aes-256-gcm', toKeyObject(key), gcmIv(iv), { authTagLength: GCM_TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(textBytes));
  // final checks the tag before the text is returned: until then the text may be forged.
  return plain(Buffer.concat([decipher.update(bytes.subarray(0, textBytes)), decipher.final()]));
}

/** As many as a nonce has. Asking for so few costs as much as asking for many, so they are fetched ahead. */
const FEW_RANDOM_BYTES = 16;
let randomAhead = Buffer.alloc(0);
let randomUsed = 0;

export function randomBytes(length: number): Uint8Array {
  if (length > FEW_RANDOM_BYTES) return plain(random(length));
  if (randomUsed + length > randomAhead.length) {
    randomAhead = random(128 * FEW_RANDOM_BYTES);
    randomUsed = 0;
  }
  randomUsed += length;
  return plain(randomAhead.subarray(randomUsed - length, randomUsed));
}

export function toHex(bytes: Uint8Array): string {
  return view(bytes).toString('hex');
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

/** GCM takes IVs of other lengths and hashes them, which weakens it. */
function gcmIv(iv: Uint8Array): Uint8Array {
  if (iv.length !== GCM_IV_BYTES) throw new RangeError(`GCM IV of ${iv.length} bytes`);
  return iv;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A Buffer's slice and toString differ from a Uint8Array's; callers get what the browser would give them. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
