import { CODES, type Mistake } from '@perennial/wire';

/** The sandbox's explanation of a signature that does not match. */
export interface SignatureDiagnosis {
  /** The seven lines that the service built from the received request. */
  readonly lines: readonly string[];
  /** The probable mistakes. */
  readonly likely: readonly { readonly mistake: string; readonly hint: string }[];
}

/** Reads the response of `GET /developers/refused/{requestId}`. Returns undefined if it has no diagnosis. */
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

/**
 * The hints for an appSecret that holds a different secret. Decoding mistakes are not listed: this client decodes
 * secrets itself.
 */
const MIXED_UP: ReadonlyMap<string, string> = new Map<Mistake, string>([
  ['secret-of-callback', 'appSecret holds the callbackSecret of this channel'],
  ['secret-of-encryption', 'appSecret holds the aesKey of this channel'],
  ['secret-before-reset', 'appSecret is the one from before the last reset'],
]);

/**
 * Explains the sandbox's findings to a user of this client, which signs every request itself. So either the secret is
 * wrong, or the request was changed after signing. For timestamps the service's own message is enough.
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
