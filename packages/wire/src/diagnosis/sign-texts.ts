import { sha256Hex, toBase64 } from '#platform';
import { PATH_PREFIX } from '../endpoints.js';
import { HEADERS } from '../headers.js';
import { EMPTY_SHA256 } from '../signing.js';
import { trimSlashes } from '../trim-slashes.js';
import { type BodySpelling, spellAgain } from './body-spellings.js';
import { fromHex } from './hex.js';
import { type Finding, finding, type Mistake } from './mistakes.js';

/** A request as received: the raw bytes of its body and the texts of its headers. */
export interface ReceivedRequest {
  /** The path without its query. */
  readonly path: string;
  /** The query without its question mark, or ''. */
  readonly query: string;
  /** The raw body. Undefined if it was not read. */
  readonly body?: Uint8Array | undefined;
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
  readonly signature: string;
  readonly method?: string | undefined;
  /** The value of the Host header, which may include a port. */
  readonly host?: string | undefined;
}

/** Headers of an earlier request of the same channel. */
export interface EarlierRequest {
  readonly timestamp?: string | undefined;
  readonly nonce: string;
  readonly requestId: string;
}

/** The parts of the text to sign. A mistake changes one or more of them. */
interface SignText {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly digest: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
  /** Which of the seven lines are included, by index, in the order in which they are signed. */
  readonly order: readonly number[];
  readonly join: string;
  readonly end: string;
}

/** One mistake: the parts of the text that it changes. */
export interface Change {
  readonly to: Partial<SignText>;
  readonly found: readonly Finding[];
}

/** The largest body for which other spellings are tried. */
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

/** Lists the mistakes that programs usually make, most likely first. They are also tried in pairs. */
export function listUsualChanges(came: ReceivedRequest, right: SignText, hosts: readonly string[]): Change[] {
  const text = bodyText(came);
  return [
    change('empty-line-missing', { order: WITHOUT_QUERY }),
    change('trailing-newline', { end: '\n' }),
    change('crlf', { join: '\r\n' }),
    change('digest-upper-case', { digest: right.digest.toUpperCase() }),
    ...(text === undefined ? [] : [change('body-not-hashed', { digest: text })]),
    ...listSpellingChanges(text, USUAL_SPELLINGS),
    change('timestamp-in-seconds', { timestamp: toSeconds(right.timestamp) }),
    ...hosts.slice(0, 2).map((host) => change('path-with-host', { path: host + right.path })),
    change('path-without-prefix', { path: withoutPrefix(right.path) }),
    change('path-with-slash', { path: `${right.path}/` }),
  ];
}

const USUAL_SPELLINGS = 3;
const MAX_HOSTS = 6;

/** Lists mistakes that are tried alone, and together with an appSecret that was not decoded. */
export const listOtherChanges = (came: ReceivedRequest, right: SignText, hosts: readonly string[]): Change[] => [
  ...listPathChanges(right, hosts.slice(0, MAX_HOSTS)),
  ...listDigestChanges(came, right),
  ...listHeaderChanges(right),
  ...listLayoutChanges(came),
];

const NO_LEADING_SLASH = 'You signed the path without its first slash. Sign it as it is sent, from /openapi/v1 on.';
const NO_VERSION = 'You signed the path without /openapi. Sign it as it is sent, with /openapi/v1 in front.';
const WITH_QUERY = 'You signed the path with the query after it. The path is the second line, the query the third.';
const QUERY_LEFT_OUT = 'You signed an empty third line, but sent a query. Sign the query as it is sent.';
const QUESTION_MARK = 'You signed the query with its question mark. Sign the text after it.';
const MARK_ALONE = 'You signed a question mark for the query, but sent none. Sign an empty line then.';
const MARK_BEHIND = 'You signed the path with a question mark at its end. Sign it as it is sent, without.';
const QUERY_DECODED = 'You signed the query decoded. Sign it as it is sent, with its percent signs.';
const QUERY_SORTED = 'You signed the query in another order. Sign it as it is sent.';

function listPathChanges({ path, query }: SignText, hosts: readonly string[]): Change[] {
  const together = `${path}?${query}`;
  const always = [
    ...hosts.map((host) => change('path-with-host', { path: host + path })),
    change('path-without-prefix', { path: withoutPrefix(path).slice(1) }),
    change('path-without-prefix', { path: path.slice(1) }, NO_LEADING_SLASH),
    change('path-without-prefix', { path: path.replace(/^\/openapi/, '') }, NO_VERSION),
    change('path-with-slash', { path: `${path}?` }, MARK_BEHIND),
  ];
  if (query === '') return [...always, change('empty-line-missing', { query: '?' }, MARK_ALONE)];
  return [
    ...always,
    ...hosts.map((host) => change('path-with-host', { path: host + together, query: '' })),
    change('path-with-host', { path: together, query: '' }, WITH_QUERY),
    change('path-with-host', { path: together }, WITH_QUERY),
    change('path-with-host', { path: together, order: WITHOUT_QUERY }, WITH_QUERY),
    change('empty-line-missing', { query: '' }, QUERY_LEFT_OUT),
    change('empty-line-missing', { query: `?${query}` }, QUESTION_MARK),
    change('empty-line-missing', { query: decodeQuery(query) }, QUERY_DECODED),
    change('empty-line-missing', { query: query.split('&').toSorted().join('&') }, QUERY_SORTED),
  ];
}

const DIGEST_BASE64 = 'You wrote the SHA-256 of the body in base64. Write it in lower-case hex.';
const NOTHING_HASHED = 'You hashed an empty body, but sent one. Hash the bytes that you send.';
const LINE_EMPTY = 'You left the fourth line empty. It is the SHA-256 of the body, and of nothing if there is no body.';
const OF_TEXT = 'You hashed the body as a JSON text within quotes. Hash the bytes that you send.';

function listDigestChanges(came: ReceivedRequest, right: SignText): Change[] {
  const text = bodyText(came);
  return [
    change('digest-upper-case', { digest: toBase64(fromHex(right.digest) ?? new Uint8Array()) }, DIGEST_BASE64),
    change('body-not-hashed', { digest: EMPTY_SHA256 }, NOTHING_HASHED),
    change('body-not-hashed', { digest: '' }, LINE_EMPTY),
    ...(text === undefined ? [] : [change('body-serialised-again', digestOf(JSON.stringify(text)), OF_TEXT)]),
    ...listSpellingChanges(text),
  ];
}

const digestOf = (text: string) => ({ digest: sha256Hex(encoder.encode(text)) });

function listSpellingChanges(text: string | undefined, most = Number.POSITIVE_INFINITY): Change[] {
  const found = new Map<string, Change>();
  for (const spelling of text === undefined ? [] : spellAgain(text)) {
    if (found.size === most) break;
    if (spelling.text === text || found.has(spelling.text)) continue;
    found.set(spelling.text, change('body-serialised-again', digestOf(spelling.text), explain(spelling)));
  }
  return [...found.values()];
}

const explain = ({ by }: BodySpelling) =>
  `You hashed the body spelled ${by}, and sent other bytes. Serialise it once, hash those bytes, and send the same bytes.`;

/** Returns the body as text, or undefined if it is absent, empty, too large or not UTF-8. */
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

/** A header whose value the client generates: its names, and the position of its line. */
interface MadeUpHeader {
  readonly part: 'nonce' | 'requestId';
  readonly mistake: Mistake;
  readonly name: string;
  readonly line: string;
  readonly at: number;
}

const NONCE: MadeUpHeader = { part: 'nonce', mistake: 'other-nonce', name: 'nonce', line: 'sixth', at: 5 };
const REQUEST_ID: MadeUpHeader = {
  part: 'requestId',
  mistake: 'other-request-id',
  name: 'request id',
  line: 'last',
  at: 6,
};

function listHeaderChanges(right: SignText): Change[] {
  const { timestamp, nonce, requestId } = right;
  const seconds = Number(toSeconds(timestamp));
  const dashed = nonce.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return [
    change('timestamp-in-seconds', { timestamp: String(seconds + 1) }, ROUNDED),
    change('timestamp-in-seconds', { timestamp: String(Number(timestamp) / 1000) }, ROUNDED),
    change('timestamp-in-seconds', { timestamp: `${seconds}000` }, FILLED_UP),
    change('timestamp-in-seconds', { timestamp: `${seconds + 1}000` }, FILLED_UP),
    change('other-nonce', { nonce: dashed }, NONCE_DASHES),
    ...listMadeUpChanges(right, NONCE, REQUEST_ID),
    ...listMadeUpChanges(right, REQUEST_ID, NONCE),
    change('other-request-id', { requestId: requestId.replaceAll('-', '') }, ID_DASHES),
  ];
}

function listMadeUpChanges(right: SignText, own: MadeUpHeader, other: MadeUpHeader): Change[] {
  const { part, mistake, name, line, at } = own;
  const otherCase = `You signed the ${name} in another case than you sent. Case counts: use one text for header and signature.`;
  const empty = `You signed an empty ${name}. Set it before you build the text, and send the same.`;
  const mixedUp = `You signed the ${other.name} in the place of the ${name}. The ${line} line is ${HEADERS[part]}.`;
  const missing = `You left out the ${line} line. It is the ${name}, as the header has it.`;
  return [
    change(mistake, { [part]: right[part].toUpperCase() }, otherCase),
    change(mistake, { [part]: right[part].toLowerCase() }, otherCase),
    change(mistake, { [part]: '' }, empty),
    change(mistake, { [part]: right[other.part] }, mixedUp),
    change(mistake, { order: IN_ORDER.filter((one) => one !== at) }, missing),
  ];
}

const BACKSLASH = 'You joined the lines with a backslash and an n. Join them with the one character LF.';
const NOT_JOINED = 'You joined the parts without a separator. Join them with LF.';
const WITH_SPACES = 'You joined the parts with another character. Join them with LF.';
const METHOD_CASE = 'You signed the method in lower case. The first line is POST, in capitals.';
const METHOD_SENT = 'You signed the method that you sent. Endpoints are called with POST, and the first line is POST.';
const OTHER_METHODS = ['GET', 'PUT', 'Post'];
const explainMethod = (method: string) => `You signed ${method} as the method. The first line is POST, in capitals.`;
const METHOD_MISSING = 'You left out the first line. It is the method, POST.';

function listLayoutChanges({ method }: ReceivedRequest): Change[] {
  const otherOrder = (to: Partial<SignText>, hint: string) => change('lines-in-other-order', to, hint);
  const behind = (first: Mistake) => [finding(first), finding('trailing-newline')];
  return [
    change('crlf', { join: '\\n' }, BACKSLASH),
    change('crlf', { join: '' }, NOT_JOINED),
    change('crlf', { join: '&' }, WITH_SPACES),
    change('crlf', { join: ' ' }, WITH_SPACES),
    { to: { join: '\r\n', end: '\r\n' }, found: behind('crlf') },
    { to: { order: WITHOUT_QUERY, end: '\n' }, found: behind('empty-line-missing') },
    otherOrder({ method: 'post' }, METHOD_CASE),
    ...OTHER_METHODS.map((other) => otherOrder({ method: other }, explainMethod(other))),
    ...(method === undefined ? [] : [otherOrder({ method }, METHOD_SENT)]),
    otherOrder({ order: [1, 2, 3, 4, 5, 6] }, METHOD_MISSING),
  ];
}

/**
 * Lists every swap of two lines and every move of one line. Omits duplicates: to swap two neighbours is to move one.
 */
export function listOrders(): Change[] {
  const places = IN_ORDER.flatMap((from) => IN_ORDER.map((to) => [from, to] as const));
  const orders = places.flatMap(([from, to]) => [
    ...(from < to ? [swap(from, to)] : []),
    ...(Math.abs(from - to) > 1 ? [move(from, to)] : []),
  ]);
  return orders.map((order) => change('lines-in-other-order', { order }));
}

function swap(a: number, b: number): number[] {
  return IN_ORDER.map((at) => (at === a ? b : at === b ? a : at));
}

function move(from: number, to: number): number[] {
  return IN_ORDER.filter((at) => at !== from).toSpliced(to, 0, from);
}

const SIGNED_EARLIER =
  'You sent the signature of an earlier request with new headers. Sign each try anew, with the headers that you send.';

/** Lists changes that reuse one or more headers of an earlier request. */
export function listEarlierChanges(earlier: readonly EarlierRequest[]): Change[] {
  const some = earlier.slice(-MAX_EARLIER_REQUESTS);
  return [
    ...some.map(({ nonce }) => change('other-nonce', { nonce })),
    ...some.map(({ requestId }) => change('other-request-id', { requestId })),
    ...some.flatMap(({ timestamp, nonce, requestId }) => {
      if (timestamp === undefined) return [];
      const found = [finding('other-nonce', SIGNED_EARLIER), finding('other-request-id', SIGNED_EARLIER)];
      return [
        change('other-nonce', { timestamp, nonce }, SIGNED_EARLIER),
        { to: { timestamp, nonce, requestId }, found },
      ];
    }),
  ];
}

/** The offsets, in milliseconds, at which a client may have taken the time again: soon, or with a clock of seconds. */
const MAX_OFFSET_MS = 100;
const SECOND_MS = 1_000;
const OFFSETS = [...Array.from({ length: MAX_OFFSET_MS }, (_, index) => index + 1), SECOND_MS].flatMap((ms) => [
  -ms,
  ms,
]);

/** Lists timestamps shortly before and after the sent one, because the client may have taken the time twice. */
export function listTimestampChanges({ timestamp }: SignText): Change[] {
  const sent = Number(timestamp);
  if (!Number.isSafeInteger(sent)) return [];
  return OFFSETS.map((ms) => change('other-timestamp', { timestamp: String(sent + ms) }, explainOffset(ms)));
}

const explainOffset = (ms: number) =>
  `You signed a timestamp that is ${Math.abs(ms)} ms ${ms < 0 ? 'before' : 'after'} the one you sent. Take the time once for each request, and use it in header and text.`;

/** Lists texts that a client may have put before the path: the host that it called, and the service's public URL. */
export function listHosts({ host }: ReceivedRequest, publicUrl: string | undefined): string[] {
  const url = publicUrl === undefined ? undefined : trimSlashes(publicUrl);
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
