import { CODES, type Mistake } from '@perennial/wire';

/** What the sandbox says of a signature that does not match. */
export interface SignatureDiagnosis {
  /** The seven lines that the service built from what came. */
  readonly lines: readonly string[];
  /** What is probably wrong, the likeliest first. */
  readonly likely: readonly { readonly mistake: string; readonly hint: string }[];
}

/** Reads what `GET /developers/refused/{requestId}` answers. */
export function readDiagnosis(answer: unknown): SignatureDiagnosis | undefined {
  const { diagnosis } = (answer ?? {}) as { diagnosis?: Partial<SignatureDiagnosis> | null };
  if (!Array.isArray(diagnosis?.likely)) return undefined;
  const isText = (value: unknown) => typeof value === 'string';
  const likely = diagnosis.likely.filter((one) => isText(one?.mistake) && isText(one?.hint));
  const lines = Array.isArray(diagnosis.lines) ? diagnosis.lines.filter(isText) : [];
  return { lines, likely };
}

const OTHER_SECRET =
  'wrong-secret: appSecret is not the one of this appId. Is it of another channel or environment, or from before a reset?';

/** The secrets that may stand in the place of another. That one is decoded wrongly cannot happen with this client. */
const MIXED_UP: ReadonlyMap<string, string> = new Map<Mistake, string>([
  ['secret-of-callback', 'appSecret holds the callbackSecret of this channel'],
  ['secret-of-encryption', 'appSecret holds the aesKey of this channel'],
  ['secret-before-reset', 'appSecret is the one from before the last reset'],
]);

/**
 * What the mistakes that the sandbox names mean to somebody who does not sign by himself: the secret is what he can have wrong.
 * When the secret is known to be right, the request was changed after it was signed. Of a timestamp the service's own message is
 * what he has to know.
 */
export function readHint(code: string, mistakes: readonly string[]): string | undefined {
  const [first] = mistakes;
  if (first === undefined || code !== CODES.SIGNATURE_INVALID.code) return undefined;
  for (const mistake of mistakes) {
    if (MIXED_UP.has(mistake)) return `${mistake}: ${MIXED_UP.get(mistake)}`;
  }
  if (first === 'unknown' || first.startsWith('secret-')) return OTHER_SECRET;
  return `changed-on-its-way: appSecret is right, but the request is not the one that was signed (${first}). Look at what stands between, such as a proxy or your own fetch`;
}
