import { equalBytes, hmacSha256, sha256Hex, toBase64 } from '#platform';
import { listHashMistakes } from './hash-mistakes.js';
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
  listTimestampChanges,
  listUsualChanges,
  MAX_SPELLED_BODY_BYTES,
  type ReceivedRequest,
  toText,
} from './sign-texts.js';
import { explainUnreadable, readSignature } from './signature-forms.js';
import { type ChannelSecrets, listSigningKeys, type SigningKey } from './signing-keys.js';
import { findTimestampFault } from './timestamp.js';

/** What the caller knows besides the request. */
export interface DiagnosisContext {
  /** Other requests of the channel, newest last. Only the last 16 are used. */
  readonly earlier?: readonly EarlierRequest[] | undefined;
  /** The current time in Unix milliseconds. If undefined, the timestamp is not checked. */
  readonly now?: number | undefined;
  /** The URL under which clients call the service. */
  readonly publicUrl?: string | undefined;
}

export interface Diagnosis {
  /** The seven lines to sign, built from the received request. They are safe to display. */
  readonly lines: readonly string[];
  /** The probable mistakes. Empty if there are none. If the body was not read, only the time is checked. */
  readonly likely: readonly Finding[];
}

/**
 * The maximum number of HMACs that one diagnosis computes. It is the sum of the attempts below, each list at its
 * longest: the keys (12) on the correct text; each change alone (some 70 kinds, 24 body spellings, 51 sequences of the
 * lines, 64 with headers of 16 earlier requests); the usual keys with the usual changes (52); the usual changes in
 * pairs (62); the undecoded secret with every other change; and other timestamps (202). If the former app secret is
 * accepted too, the limit cuts off the last attempts. Decoding the signature needs no HMAC, and neither do the few
 * mistakes in using HMAC itself.
 */
export const MAX_DIAGNOSIS_TRIES = 650;

/**
 * Finds out why a signature does not match. Signs with the channel's own secrets and one usual mistake after another,
 * until the result equals the received signature. The returned diagnosis contains no secret and no signature.
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

/** Joins the timestamp's fault and the other mistakes. Reports a wrong clock only if no other mistake was found. */
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
  const tried = new Set<string>();
  for (const { key, change } of listTries(came, secrets, earlier, publicUrl, right)) {
    if (tried.size === MAX_DIAGNOSIS_TRIES) break;
    const text = toText({ ...right, ...change.to });
    const name = `${toBase64(key.bytes)} ${text}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const mac = hmacSha256(key.bytes, text);
    const form = forms.find((one) => equalBytes(one.mac, mac));
    if (form) return [...key.found, ...change.found, ...form.found];
  }
  for (const { mac, found } of listHashMistakes(toText(right), secrets.appSecret)) {
    const form = forms.find((one) => equalBytes(one.mac, mac));
    if (form) return [found, ...form.found];
  }
  return [isLarge(came) ? finding('unknown', LARGE_BODY) : finding('unknown')];
}

const LARGE_BODY =
  'None of the usual mistakes gives this signature; other spellings of a body of more than 4 KiB are not tried. Compare the seven lines with yours, and try with a small body.';
const isLarge = ({ body }: ReceivedRequest) => (body?.length ?? 0) > MAX_SPELLED_BODY_BYTES;

/**
 * Lists what to try: first every key with the correct text, then single changes of the text, then combinations.
 */
function listTries(
  came: ReceivedRequest,
  secrets: ChannelSecrets,
  earlier: readonly EarlierRequest[],
  publicUrl: string | undefined,
  right: SignText,
): { readonly key: SigningKey; readonly change: Change }[] {
  const hosts = listHosts(came, publicUrl);
  const [usual, others] = [listUsualChanges(came, right, hosts), listOtherChanges(came, right, hosts)];
  const keys = listSigningKeys(secrets);
  // The keys that the service accepts: the app secret, and perhaps the former app secret.
  const rightKeys = keys.filter(({ found }) => found.length === 0);
  const wrongKeys = keys.filter(({ found, isUsual }) => isUsual && found.length > 0);
  const each = (some: readonly SigningKey[], changes: readonly Change[]) =>
    some.flatMap((key) => changes.map((change) => ({ key, change })));
  return [
    ...each(keys, [{ to: {}, found: [] }]),
    ...each(rightKeys, [...usual, ...others, ...listOrders(), ...listEarlierChanges(earlier)]),
    ...each(wrongKeys, usual),
    ...each(rightKeys, listPairs(usual)),
    ...each(wrongKeys.slice(0, 1), [...others, ...listOrders()]),
    ...each(rightKeys, listTimestampChanges(right)),
  ];
}

/** Returns all pairs of changes that change different parts. */
const listPairs = (changes: readonly Change[]): Change[] =>
  changes.flatMap((first, at) =>
    changes
      .slice(at + 1)
      .filter((second) => Object.keys(first.to).every((part) => !(part in second.to)))
      .map((second) => ({ to: { ...first.to, ...second.to }, found: [...first.found, ...second.found] })),
  );

const MAX_LINE_CHARS = 1_024;

/** Escapes characters that could disturb a terminal or a page. Replaces secrets that the client sent by mistake. */
function toVisibleLine(line: string, { appSecret, callbackSecret, aesKey, formerAppSecret }: ChannelSecrets): string {
  let text = line.slice(0, 2 * MAX_LINE_CHARS);
  for (const secret of [appSecret, callbackSecret, aesKey, formerAppSecret]) {
    if (secret !== undefined && secret.length > 0) text = text.replaceAll(toBase64(secret), '[secret]');
  }
  const visible = text.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return visible.length > MAX_LINE_CHARS ? `${visible.slice(0, MAX_LINE_CHARS - 1)}…` : visible;
}
