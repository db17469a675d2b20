import { sha256Hex, toBase64 } from '#platform';
import { fromHex } from './hex.js';
import { type Finding, finding } from './mistakes.js';

/** The result of a wrong use of HMAC. */
interface HashMistake {
  readonly mac: Uint8Array;
  readonly found: Finding;
}

const encoder = new TextEncoder();

/** Lists the results of a SHA-256 without HMAC, with and without the secret, and of an HMAC whose arguments are swapped. */
export function listHashMistakes(signText: string, appSecret: Uint8Array): HashMistake[] {
  const text = encoder.encode(signText);
  const lineBreak = encoder.encode('\n');
  const secrets = [appSecret, encoder.encode(toBase64(appSecret))];
  const hashed = [
    text,
    ...secrets.flatMap((secret) => [
      join(text, secret),
      join(secret, text),
      join(text, lineBreak, secret),
      join(secret, lineBreak, text),
    ]),
  ];
  return [
    ...hashed.map((bytes) => ({ mac: sha256(bytes), found: finding('hmac-missing') })),
    ...secrets.map((secret) => ({ mac: hmacOfBytes(text, secret), found: finding('hmac-swapped') })),
  ];
}

const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** Computes an HMAC-SHA256 of bytes, because the platform's function takes a text. */
function hmacOfBytes(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key);
  const pad = (value: number) => block.map((byte) => byte ^ value);
  return sha256(join(pad(OUTER_PAD), sha256(join(pad(INNER_PAD), bytes))));
}

const sha256 = (bytes: Uint8Array): Uint8Array => fromHex(sha256Hex(bytes)) ?? new Uint8Array();

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
