import { fromBase64, fromBase64Url } from '#platform';
import { fromHex } from './hex.js';
import { type Finding, finding } from './mistakes.js';

/** One way to decode a signature: the bytes, and the mistakes in its encoding. */
export interface ReadSignature {
  readonly mac: Uint8Array;
  readonly found: readonly Finding[];
}

const MAC_BYTES = 32;
/** The longest signature that is examined: longer than any encoding of 32 bytes. */
const MAX_CHARS = 256;
const NAMED = /^(?:hmac-?)?sha-?256[=: ]\s*/i;
const IN_QUOTES = /^(["'`])(.*)\1$/;

const PERCENT = 'You sent the base64 percent-encoded. A header takes +, / and = as they are.';
const PREFIXED = 'You sent a name before the signature. Send the base64 alone.';
const QUOTED = 'You sent the signature in quotation marks. Send the base64 alone.';
const UNPADDED = 'You sent the base64 without the = at its end. Keep it: the signature has 44 characters.';
const TWICE = 'You encoded the HMAC in base64 twice. Encode its 32 bytes once.';

/** Lists all ways to decode the signature to 32 bytes, the correct encoding first. Computes no HMAC. */
export function readSignature(signature: string): ReadSignature[] {
  if (signature.length > MAX_CHARS) return [];
  const ways = [
    read(fromBase64(signature)),
    ...readOtherForms(signature),
    ...readOtherForms(signature.replace(NAMED, ''), signature, [finding('signature-base64url', PREFIXED)]),
    ...readOtherForms(signature.replace(IN_QUOTES, '$2'), signature, [finding('signature-base64url', QUOTED)]),
    ...readOtherForms(decodePercent(signature), signature, [finding('signature-base64url', PERCENT)]),
  ];
  return ways.filter((way) => way !== undefined);
}

/**
 * Decodes `text` in encodings other than the correct one. If `before` is given, `text` was extracted from it. The
 * correct encoding is then tried too, with `wrong` as the mistake.
 */
function readOtherForms(text: string, before?: string, wrong: readonly Finding[] = []): (ReadSignature | undefined)[] {
  if (text === before) return [];
  const inner = decodeText(text);
  return [
    before === undefined ? undefined : read(fromBase64(text), wrong),
    read(fromHex(text), [finding('signature-hex')]),
    read(fromBase64Url(text.replace(/=$/, '')), [finding('signature-base64url', explainUrlForm(text))]),
    read(fromHex(inner), [finding('signature-base64-of-hex')]),
    read(fromBase64(inner), [finding('signature-base64-of-hex', TWICE)]),
    read(fromBase64(`${text}=`), [finding('signature-base64url', UNPADDED)]),
  ];
}

/** Without - or _ the two base64 alphabets look the same, so only the missing padding is reported. */
const explainUrlForm = (text: string) => (/[-_]/.test(text) ? undefined : UNPADDED);

function read(mac: Uint8Array | undefined, found: readonly Finding[] = []): ReadSignature | undefined {
  return mac?.length === MAC_BYTES ? { mac, found } : undefined;
}

function decodeText(base64: string): string {
  return String.fromCharCode(...(fromBase64(base64) ?? []));
}

function decodePercent(text: string): string {
  return text.replace(/%(2b|2f|3d)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

const OTHER_HASHES: Readonly<Record<number, string>> = { 16: 'MD5', 20: 'SHA-1', 48: 'SHA-384', 64: 'SHA-512' };

/** Explains a signature that is not 32 bytes in any known encoding. */
export function explainUnreadable(signature: string): Finding {
  const start = signature.slice(0, MAX_CHARS);
  const hash = OTHER_HASHES[(fromHex(start) ?? fromBase64(start))?.length ?? 0];
  const what = hash ? `It is as long as an HMAC with ${hash}.` : `It has ${signature.length} characters.`;
  return finding('unknown', `The signature is not base64 of 32 bytes. ${what} Send HMAC-SHA256 in base64.`);
}
