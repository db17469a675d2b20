import { CODES, type Mistake } from '@perennial/wire';
import type { SignatureDiagnosis } from './errors.js';

const OTHER_SECRET =
  'wrong-secret: appSecret is not the one of this appId. Is it of another channel or environment, or from before a reset?';

/** The secrets that may stand in the place of another. That one is decoded wrongly cannot happen with this client. */
const MIXED_UP: ReadonlyMap<string, string> = new Map<Mistake, string>([
  ['secret-of-callback', 'appSecret holds the callbackSecret of this channel'],
  ['secret-of-encryption', 'appSecret holds the aesKey of this channel'],
  ['secret-before-reset', 'appSecret is the one from before the last reset'],
]);

/**
 * What the sandbox's diagnosis means to somebody who does not sign by himself: the secret is what he can have wrong. When the
 * secret is known to be right, the request was changed after it was signed.
 */
export function readHint(code: string, diagnosis: SignatureDiagnosis | undefined): string | undefined {
  const [first] = diagnosis?.likely ?? [];
  if (first === undefined) return undefined;
  if (code !== CODES.SIGNATURE_INVALID.code) return `${first.mistake}: ${first.hint}`;
  for (const { mistake } of diagnosis?.likely ?? []) {
    if (MIXED_UP.has(mistake)) return `${mistake}: ${MIXED_UP.get(mistake)}`;
  }
  if (first.mistake === 'unknown' || first.mistake.startsWith('secret-')) return OTHER_SECRET;
  return `changed-on-its-way: appSecret is right, but the request is not the one that was signed (${first.mistake}). Look at what stands between, such as a proxy or your own fetch`;
}
