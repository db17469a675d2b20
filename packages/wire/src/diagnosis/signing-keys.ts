import { toBase64, toHex } from '#platform';
import { type Finding, finding } from './mistakes.js';

export interface ChannelSecrets {
  readonly appSecret: Uint8Array;
  readonly callbackSecret?: Uint8Array | undefined;
  readonly aesKey?: Uint8Array | undefined;
  /** The app secret before the last reset. */
  readonly formerAppSecret?: Uint8Array | undefined;
  /** True if the service still accepts the former app secret. Using it is then no mistake. */
  readonly isFormerTaken?: boolean | undefined;
}

/** A key that the client may have signed with. */
export interface SigningKey {
  readonly bytes: Uint8Array;
  readonly found: readonly Finding[];
  /** True if this key is also tried together with other mistakes. */
  readonly isUsual: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const DECODED_INTO_TEXT =
  'You decoded the appSecret into a text and signed with that. Keep the 32 bytes as bytes: a text changes those beyond 127.';
const LINE_BREAK =
  'You signed with the text of the appSecret and the line break behind it. Decode it from base64 first.';
const IN_HEX = 'You signed with the appSecret written in hex. Sign with its 32 bytes.';

/** Lists the keys that the client may have used, the correct one first. */
export function listSigningKeys(secrets: ChannelSecrets): SigningKey[] {
  const { appSecret, callbackSecret, aesKey, formerAppSecret, isFormerTaken } = secrets;
  const text = (secret: Uint8Array) => encoder.encode(toBase64(secret));
  const notDecoded = (hint?: string) => [finding('secret-not-decoded', hint)];
  const usual = (bytes: Uint8Array, found: readonly Finding[]): SigningKey => ({ bytes, found, isUsual: true });
  const rare = (bytes: Uint8Array, found: readonly Finding[]): SigningKey => ({ bytes, found, isUsual: false });
  const other = (secret: Uint8Array | undefined, found: readonly Finding[]) =>
    secret === undefined ? [] : [usual(secret, found), rare(text(secret), [...found, ...notDecoded()])];
  return [
    usual(appSecret, []),
    usual(text(appSecret), notDecoded()),
    ...other(formerAppSecret, isFormerTaken ? [] : [finding('secret-before-reset')]),
    ...other(callbackSecret, [finding('secret-of-callback')]),
    ...other(aesKey, [finding('secret-of-encryption')]),
    rare(encoder.encode(`${toBase64(appSecret)}\n`), notDecoded(LINE_BREAK)),
    rare(encoder.encode(toHex(appSecret)), notDecoded(IN_HEX)),
    rare(encoder.encode(decoder.decode(appSecret)), notDecoded(DECODED_INTO_TEXT)),
    rare(encoder.encode(String.fromCharCode(...appSecret)), notDecoded(DECODED_INTO_TEXT)),
  ];
}
