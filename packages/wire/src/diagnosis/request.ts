import { equalBytes, hmacSha256, sha256Hex, toBase64 } from '#platform';
import { type Finding, finding } from './mistakes.js';
import {
  type Change,
  createSignText,
  type EarlierRequest,
  listEarlierChanges,
  listHosts,
  listLines,
  listOrders,
  listOtherChanges,
  listUsualChanges,
  MAX_SPELLED_BODY_BYTES,
  type ReceivedRequest,
  toText,
} from './sign-texts.js';
import { explainUnreadable, type ReadSignature, readSignature } from './signature-forms.js';
import { type ChannelSecrets, listSigningKeys, type SigningKey } from './signing-keys.js';
import { findTimestampFault } from './timestamp.js';

/** Whoever asks may know more than the request. */
export interface DiagnosisContext {
  /** Other requests of the channel, the newest last: of these 16 are tried. */
  readonly earlier?: readonly EarlierRequest[] | undefined;
  /** Unix milliseconds. Unset: the timestamp is not compared with anything. */
  readonly now?: number | undefined;
  /** Under which the service is called. */
  readonly publicUrl?: string | undefined;
}

export interface Diagnosis {
  /** The seven lines as they are made from what came, fit to be shown. */
  readonly lines: readonly string[];
  /** What is probably wrong; nothing when the signature is right. */
  readonly likely: readonly Finding[];
}

/**
 * HMACs that one diagnosis takes at most. It is what all of the tries below come to when each list is as long as it can be: the
 * keys (12) on the right text; each change of the text alone (some 70 kinds, 24 spellings of the body, 51 orders, 64 with headers of
 * 16 earlier requests); the usual secrets with the usual changes (52); the usual changes two by two (62); and the secret that was
 * not decoded with every other change. How the signature is written costs none: it is read, not tried.
 */
export const MAX_DIAGNOSIS_TRIES = 450;

/**
 * Finds out why a signature does not match, by making the usual mistakes with the channel's own secrets until the signature that
 * came is the result. Nothing of what it is given as secrets, and no signature, is in what it gives back.
 */
export function diagnoseRequest(
  came: ReceivedRequest,
  secrets: ChannelSecrets,
  { earlier = [], now, publicUrl }: DiagnosisContext = {},
): Diagnosis {
  const fault = now === undefined ? undefined : findTimestampFault(came.timestamp, now);
  const digest = came.body === undefined ? undefined : sha256Hex(came.body);
  const right = createSignText(came, digest ?? '');
  const lines = listLines({ ...right, digest: digest ?? BODY_NOT_READ }).map((line) => toVisibleLine(line, secrets));
  const found = digest === undefined ? [] : findMistakes(came, secrets, earlier, publicUrl, right);
  return { lines, likely: joinFindings(fault, found) };
}

const BODY_NOT_READ = '(the body was not read)';

/** A fault of the clock is no usual mistake: who has made one of those mends that first. */
function joinFindings(fault: Finding | undefined, found: readonly Finding[]): readonly Finding[] {
  const known = found.filter(({ mistake }) => mistake !== 'unknown');
  if (fault === undefined) return found;
  if (fault.mistake === 'unknown') return known.length > 0 ? known : [fault];
  return [fault, ...known.filter(({ mistake }) => mistake !== fault.mistake)];
}

type SignText = Parameters<typeof toText>[0];

function findMistakes(
  came: ReceivedRequest,
  secrets: ChannelSecrets,
  earlier: readonly EarlierRequest[],
  publicUrl: string | undefined,
  right: SignText,
): readonly Finding[] {
  const forms = readSignature(came.signature);
  if (forms.length === 0) return [explainUnreadable(came.signature)];
  const tries = new Tries(forms);
  for (const { key, change } of listTries(came, secrets, earlier, publicUrl, right)) {
    if (tries.areUsedUp) break;
    const form = tries.findForm(key, toText({ ...right, ...change.to }));
    if (form) return [...key.found, ...change.found, ...form.found];
  }
  return [isLarge(came) ? finding('unknown', LARGE_BODY) : finding('unknown')];
}

const LARGE_BODY =
  'None of the usual mistakes gives this signature; other spellings of a body of more than 4 KiB are not tried. Compare the seven lines with yours, and try with a small body.';
const isLarge = ({ body }: ReceivedRequest) => (body?.length ?? 0) > MAX_SPELLED_BODY_BYTES;

const NO_CHANGE: Change = { to: {}, found: [] };

/** Alone first, then two together: who has made one mistake is not told of two that come to the same. */
function* listTries(
  came: ReceivedRequest,
  secrets: ChannelSecrets,
  earlier: readonly EarlierRequest[],
  publicUrl: string | undefined,
  right: SignText,
): Generator<{ readonly key: SigningKey; readonly change: Change }> {
  const keys = listSigningKeys(secrets);
  const hosts = listHosts(came, publicUrl);
  for (const key of keys) yield { key, change: NO_CHANGE };
  // Those that are right, one of which may be the former.
  const rightKeys = keys.filter(({ found }) => found.length === 0);
  const usual = remember(listUsualChanges(came, right, hosts));
  const others = remember(listOtherChanges(came, right, hosts));
  const rare = [listOrders, () => listEarlierChanges(earlier)];
  for (const key of rightKeys) {
    for (const change of usual) yield { key, change };
    for (const change of others) yield { key, change };
    for (const list of rare) for (const change of list()) yield { key, change };
  }
  const wrongKeys = keys.filter(({ found, isUsual }) => isUsual && found.length > 0);
  for (const key of wrongKeys) for (const change of usual) yield { key, change };
  for (const key of rightKeys) for (const change of listPairs([...usual])) yield { key, change };
  for (const key of wrongKeys.slice(0, 1)) {
    for (const change of others) yield { key, change };
    for (const change of listOrders()) yield { key, change };
  }
}

/** Two changes of different parts. */
function* listPairs(changes: readonly Change[]): Generator<Change> {
  for (const [at, first] of changes.entries()) {
    for (const second of changes.slice(at + 1)) {
      if (Object.keys(first.to).some((part) => part in second.to)) continue;
      yield { to: { ...first.to, ...second.to }, found: [...first.found, ...second.found] };
    }
  }
}

/** Each item is made when it is first asked for: who has made a usual mistake is told before the rest is computed. */
function remember<T>(items: Iterator<T>): Iterable<T> {
  const made: T[] = [];
  return {
    *[Symbol.iterator]() {
      for (let at = 0; ; at += 1) {
        if (at === made.length) {
          const next = items.next();
          if (next.done) return;
          made.push(next.value);
        }
        yield made[at] as T;
      }
    },
  };
}

class Tries {
  readonly #forms: readonly ReadSignature[];
  readonly #tried = new Map<SigningKey, Set<string>>();
  #count = 0;

  constructor(forms: readonly ReadSignature[]) {
    this.#forms = forms;
  }

  get areUsedUp(): boolean {
    return this.#count >= MAX_DIAGNOSIS_TRIES;
  }

  /** The form in which the signature is the HMAC of this text under this key. One that was tried is not computed again. */
  findForm(key: SigningKey, text: string): ReadSignature | undefined {
    const tried = this.#tried.get(key) ?? new Set();
    this.#tried.set(key, tried);
    if (tried.has(text)) return undefined;
    tried.add(text);
    this.#count += 1;
    const mac = hmacSha256(key.bytes, text);
    return this.#forms.find((form) => equalBytes(form.mac, mac));
  }
}

const MAX_LINE_CHARS = 1_024;

/** Without what a terminal or a page could stumble over, and without a secret, should somebody have sent one. */
function toVisibleLine(line: string, { appSecret, callbackSecret, aesKey, formerAppSecret }: ChannelSecrets): string {
  let text = line.slice(0, 2 * MAX_LINE_CHARS);
  for (const secret of [appSecret, callbackSecret, aesKey, formerAppSecret]) {
    if (secret !== undefined && secret.length > 0) text = text.replaceAll(toBase64(secret), '[secret]');
  }
  const visible = text.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return visible.length > MAX_LINE_CHARS ? `${visible.slice(0, MAX_LINE_CHARS - 1)}…` : visible;
}
