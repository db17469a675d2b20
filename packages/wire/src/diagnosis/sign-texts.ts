import { sha256Hex, toBase64 } from '#platform';
import { PATH_PREFIX } from '../endpoints.js';
import { HEADERS } from '../headers.js';
import { EMPTY_SHA256 } from '../signing.js';
import { type BodySpelling, spellAgain } from './body-spellings.js';
import { fromHex } from './hex.js';
import { type Finding, finding, type Mistake } from './mistakes.js';

/** A request as it came: the bytes and the texts of the headers, nothing read into them. */
export interface ReceivedRequest {
  /** Without its query. */
  readonly path: string;
  /** Without its question mark; empty when there is none. */
  readonly query: string;
  /** Undefined when it was not read. */
  readonly body?: Uint8Array | undefined;
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
  readonly signature: string;
  readonly method?: string | undefined;
  /** With its port, if it has one. */
  readonly host?: string | undefined;
}

/** Headers of an earlier request of the same channel. */
export interface EarlierRequest {
  readonly timestamp?: string | undefined;
  readonly nonce: string;
  readonly requestId: string;
}

/** Everything that the text to sign is made of. A mistake changes some of it. */
interface SignText {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly digest: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
  /** Which of the seven lines, in which order. */
  readonly order: readonly number[];
  readonly join: string;
  readonly end: string;
}

/** One mistake, as what it changes. */
export interface Change {
  readonly to: Partial<SignText>;
  readonly found: readonly Finding[];
}

/** Bodies that are larger are not spelled anew. */
export const MAX_SPELLED_BODY_BYTES = 4_096;
export const MAX_EARLIER_REQUESTS = 16;

const PREFIX = PATH_PREFIX.slice(0, -1);
const IN_ORDER = [0, 1, 2, 3, 4, 5, 6];
const WITHOUT_QUERY = [0, 1, 3, 4, 5, 6];
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function createSignText(came: ReceivedRequest, digest: string): SignText {
  const { path, query, timestamp, nonce, requestId } = came;
  return { method: 'POST', path, query, digest, timestamp, nonce, requestId, order: IN_ORDER, join: '\n', end: '' };
}

export function listLines({ method, path, query, digest, timestamp, nonce, requestId }: SignText): string[] {
  return [method, path, query, digest, timestamp, nonce, requestId];
}

export function toText(parts: SignText): string {
  const lines = listLines(parts);
  return parts.order.map((at) => lines[at]).join(parts.join) + parts.end;
}

const change = (mistake: Mistake, to: Partial<SignText>, hint?: string): Change => ({
  to,
  found: [finding(mistake, hint)],
});

/** The mistakes that programs make, the likeliest first. These are tried together with one another too. */
export function* listUsualChanges(came: ReceivedRequest, right: SignText, hosts: readonly string[]): Generator<Change> {
  yield change('empty-line-missing', { order: WITHOUT_QUERY });
  yield change('trailing-newline', { end: '\n' });
  yield change('crlf', { join: '\r\n' });
  yield change('digest-upper-case', { digest: right.digest.toUpperCase() });
  const text = bodyText(came);
  if (text !== undefined) yield change('body-not-hashed', { digest: text });
  yield* take(listSpellingChanges(came), USUAL_SPELLINGS);
  yield change('timestamp-in-seconds', { timestamp: toSeconds(right.timestamp) });
  for (const host of hosts.slice(0, 2)) yield change('path-with-host', { path: host + right.path });
  yield change('path-without-prefix', { path: withoutPrefix(right.path) });
  yield change('path-with-slash', { path: `${right.path}/` });
}

const USUAL_SPELLINGS = 3;
const MAX_HOSTS = 6;

/** Those that are tried alone, and with an appSecret that was not decoded. */
export function* listOtherChanges(came: ReceivedRequest, right: SignText, hosts: readonly string[]): Generator<Change> {
  yield* listPathChanges(right, hosts);
  yield* listDigestChanges(came, right);
  yield* listHeaderChanges(right);
  yield* listLayoutChanges(came);
}

const NO_LEADING_SLASH = 'You signed the path without its first slash. Sign it as it is sent, from /openapi/v1 on.';
const NO_VERSION = 'You signed the path without /openapi. Sign it as it is sent, with /openapi/v1 in front.';
const WITH_QUERY = 'You signed the path with the query behind it. The path is the second line, the query the third.';
const QUERY_LEFT_OUT = 'You signed an empty third line, but sent a query. Sign the query as it is sent.';
const QUESTION_MARK = 'You signed the query with its question mark. Sign what stands behind that.';
const MARK_ALONE = 'You signed a question mark for the query, but sent none. Sign an empty line then.';
const MARK_BEHIND = 'You signed the path with a question mark at its end. Sign it as it is sent, without.';
const QUERY_DECODED = 'You signed the query decoded. Sign it as it is sent, with its percent signs.';
const QUERY_SORTED = 'You signed the query in another order. Sign it as it is sent.';

function* listPathChanges({ path, query }: SignText, hosts: readonly string[]): Generator<Change> {
  for (const host of hosts.slice(0, MAX_HOSTS)) {
    yield change('path-with-host', { path: host + path });
    if (query !== '') yield change('path-with-host', { path: `${host}${path}?${query}`, query: '' });
  }
  yield change('path-without-prefix', { path: withoutPrefix(path).slice(1) });
  yield change('path-without-prefix', { path: path.slice(1) }, NO_LEADING_SLASH);
  yield change('path-without-prefix', { path: path.replace(/^\/openapi/, '') }, NO_VERSION);
  yield change('path-with-slash', { path: `${path}?` }, MARK_BEHIND);
  if (query === '') {
    yield change('empty-line-missing', { query: '?' }, MARK_ALONE);
    return;
  }
  const together = `${path}?${query}`;
  yield change('path-with-host', { path: together, query: '' }, WITH_QUERY);
  yield change('path-with-host', { path: together }, WITH_QUERY);
  yield { to: { path: together, order: WITHOUT_QUERY }, found: [finding('path-with-host', WITH_QUERY)] };
  yield change('empty-line-missing', { query: '' }, QUERY_LEFT_OUT);
  yield change('empty-line-missing', { query: `?${query}` }, QUESTION_MARK);
  yield change('empty-line-missing', { query: decodeQuery(query) }, QUERY_DECODED);
  yield change('empty-line-missing', { query: query.split('&').toSorted().join('&') }, QUERY_SORTED);
}

const DIGEST_BASE64 = 'You wrote the SHA-256 of the body in base64. Write it in lower-case hex.';
const NOTHING_HASHED = 'You hashed an empty body, but sent one. Hash the bytes that you send.';
const LINE_EMPTY = 'You left the fourth line empty. It is the SHA-256 of the body, and of nothing if there is no body.';
const OF_TEXT = 'You hashed the body as a JSON text within quotes. Hash the bytes that you send.';

function* listDigestChanges(came: ReceivedRequest, right: SignText): Generator<Change> {
  yield change('digest-upper-case', { digest: toBase64(fromHex(right.digest) ?? new Uint8Array()) }, DIGEST_BASE64);
  yield change('body-not-hashed', { digest: EMPTY_SHA256 }, NOTHING_HASHED);
  yield change('body-not-hashed', { digest: '' }, LINE_EMPTY);
  const text = bodyText(came);
  if (text !== undefined)
    yield change('body-serialised-again', { digest: sha256Hex(encoder.encode(JSON.stringify(text))) }, OF_TEXT);
  yield* listSpellingChanges(came);
}

function* listSpellingChanges(came: ReceivedRequest): Generator<Change> {
  const text = bodyText(came);
  if (text === undefined) return;
  const tried = new Set([text]);
  for (const spelling of spellAgain(text)) {
    if (tried.has(spelling.text)) continue;
    tried.add(spelling.text);
    yield change('body-serialised-again', { digest: sha256Hex(encoder.encode(spelling.text)) }, explain(spelling));
  }
}

const explain = ({ by }: BodySpelling) =>
  `You hashed the body spelled ${by}, and sent other bytes. Serialise it once, hash those bytes, and send the same bytes.`;

/** Undefined when there is none, when it is large, or when it is no text. */
function bodyText({ body }: ReceivedRequest): string | undefined {
  if (body === undefined || body.length === 0 || body.length > MAX_SPELLED_BODY_BYTES) return undefined;
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}

const ROUNDED = 'You signed the time in seconds and sent milliseconds. Sign the header as it is sent.';
const FILLED_UP =
  'You signed a timestamp in whole seconds, filled up with 000, and sent milliseconds. Take the time once, for header and text.';
const NONCE_DASHES = 'You signed the nonce with dashes and sent it without. Use one text for header and signature.';
const ID_DASHES = 'You signed the request id without its dashes. Use one text for header and signature.';

/** A header that a program makes up, in the two words for it and with its place among the lines. */
interface MadeUpHeader {
  readonly part: 'nonce' | 'requestId';
  readonly mistake: Mistake;
  readonly name: string;
  readonly line: string;
  readonly header: string;
  readonly at: number;
}

const NONCE: MadeUpHeader = {
  part: 'nonce',
  mistake: 'other-nonce',
  name: 'nonce',
  line: 'sixth',
  header: HEADERS.nonce,
  at: 5,
};
const REQUEST_ID: MadeUpHeader = {
  part: 'requestId',
  mistake: 'other-request-id',
  name: 'request id',
  line: 'last',
  header: HEADERS.requestId,
  at: 6,
};

function* listHeaderChanges(right: SignText): Generator<Change> {
  const { timestamp, nonce, requestId } = right;
  const seconds = Number(toSeconds(timestamp));
  yield change('timestamp-in-seconds', { timestamp: String(seconds + 1) }, ROUNDED);
  yield change('timestamp-in-seconds', { timestamp: String(Number(timestamp) / 1000) }, ROUNDED);
  yield change('timestamp-in-seconds', { timestamp: `${seconds}000` }, FILLED_UP);
  yield change('timestamp-in-seconds', { timestamp: `${seconds + 1}000` }, FILLED_UP);
  const dashed = nonce.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  yield change('other-nonce', { nonce: dashed }, NONCE_DASHES);
  yield* listMadeUpChanges(right, NONCE, REQUEST_ID);
  yield* listMadeUpChanges(right, REQUEST_ID, NONCE);
  yield change('other-request-id', { requestId: requestId.replaceAll('-', '') }, ID_DASHES);
}

function* listMadeUpChanges(right: SignText, own: MadeUpHeader, other: MadeUpHeader): Generator<Change> {
  const { part, mistake, name, line, header, at } = own;
  const otherCase = `You signed the ${name} in another case than you sent. Case counts: use one text for header and signature.`;
  yield change(mistake, { [part]: right[part].toUpperCase() }, otherCase);
  yield change(mistake, { [part]: right[part].toLowerCase() }, otherCase);
  const empty = `You signed an empty ${name}. Set it before you build the text, and send the same.`;
  yield change(mistake, { [part]: '' }, empty);
  const mixedUp = `You signed the ${other.name} in the place of the ${name}. The ${line} line is ${header}.`;
  yield change(mistake, { [part]: right[other.part] }, mixedUp);
  const missing = `You left out the ${line} line. It is the ${name}, as the header has it.`;
  yield change(mistake, { order: IN_ORDER.filter((one) => one !== at) }, missing);
}

const BACKSLASH = 'You joined the lines with a backslash and an n. Join them with the one character LF.';
const NOT_JOINED = 'You put the parts together without a line break between them. Join them with LF.';
const WITH_SPACES = 'You joined the parts with another character. Join them with LF.';
const METHOD_CASE = 'You signed the method in lower case. The first line is POST, in capitals.';
const explainMethod = (method: string) => `You signed ${method} as the method. The first line is POST, in capitals.`;
const METHOD_SENT = 'You signed the method that you sent. Endpoints are called with POST, and the first line is POST.';
const OTHER_METHODS = ['GET', 'PUT', 'Post'];
const METHOD_MISSING = 'You left out the first line. It is the method, POST.';

function* listLayoutChanges({ method }: ReceivedRequest): Generator<Change> {
  yield change('crlf', { join: '\\n' }, BACKSLASH);
  yield change('crlf', { join: '' }, NOT_JOINED);
  yield change('crlf', { join: '&' }, WITH_SPACES);
  yield change('crlf', { join: ' ' }, WITH_SPACES);
  yield { to: { join: '\r\n', end: '\r\n' }, found: [finding('crlf'), finding('trailing-newline')] };
  yield {
    to: { order: WITHOUT_QUERY, end: '\n' },
    found: [finding('empty-line-missing'), finding('trailing-newline')],
  };
  yield change('lines-in-other-order', { method: 'post' }, METHOD_CASE);
  for (const other of OTHER_METHODS) yield change('lines-in-other-order', { method: other }, explainMethod(other));
  if (method !== undefined) yield change('lines-in-other-order', { method }, METHOD_SENT);
  yield change('lines-in-other-order', { order: [1, 2, 3, 4, 5, 6] }, METHOD_MISSING);
}

/** Two lines in each other's place, or one that was moved. */
export function* listOrders(): Generator<Change> {
  for (const from of IN_ORDER) {
    for (const to of IN_ORDER) {
      if (from === to) continue;
      if (from < to) yield change('lines-in-other-order', { order: swap(from, to) });
      // Between neighbours this is the same.
      if (Math.abs(from - to) > 1) yield change('lines-in-other-order', { order: move(from, to) });
    }
  }
}

function swap(a: number, b: number): number[] {
  return IN_ORDER.map((at) => (at === a ? b : at === b ? a : at));
}

function move(from: number, to: number): number[] {
  return IN_ORDER.filter((at) => at !== from).toSpliced(to, 0, from);
}

const SIGNED_EARLIER =
  'You sent the signature of an earlier request with new headers. Sign each try anew, with the headers that you send.';

/** The nonce or the request id of another request, or the whole of its headers: a signature that was kept. */
export function* listEarlierChanges(earlier: readonly EarlierRequest[]): Generator<Change> {
  const some = earlier.slice(-MAX_EARLIER_REQUESTS);
  for (const { nonce } of some) yield change('other-nonce', { nonce });
  for (const { requestId } of some) yield change('other-request-id', { requestId });
  for (const { timestamp, nonce, requestId } of some) {
    if (timestamp === undefined) continue;
    yield change('other-nonce', { timestamp, nonce }, SIGNED_EARLIER);
    const found = [finding('other-nonce', SIGNED_EARLIER), finding('other-request-id', SIGNED_EARLIER)];
    yield { to: { timestamp, nonce, requestId }, found };
  }
}

/** What may stand before a path: the host as it was called, and as the service knows itself. */
export function listHosts({ host }: ReceivedRequest, publicUrl: string | undefined): string[] {
  const url = publicUrl === undefined ? undefined : publicUrl.replace(/\/+$/, '');
  const own = url?.replace(/^[a-z]+:\/\//i, '');
  const named = host === undefined || host === '' ? [] : [`https://${host}`, `http://${host}`, host];
  const bare = host?.replace(/:\d+$/, '');
  return [...new Set([...(url ? [url] : []), ...named, ...(own ? [own] : []), ...(bare ? [bare] : [])])];
}

const withoutPrefix = (path: string) => (path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path);
const toSeconds = (timestamp: string) => String(Math.floor(Number(timestamp) / 1000));

function decodeQuery(query: string): string {
  try {
    return decodeURIComponent(query);
  } catch {
    return query;
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken === count) return;
    yield item;
    taken += 1;
  }
}
