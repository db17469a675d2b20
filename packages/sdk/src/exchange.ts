import {
  CODES,
  CONTENT_TYPE,
  type EncryptionVersion,
  type Endpoint,
  HEADERS,
  randomBytes,
  sha256Hex,
  signRequest,
  toHex,
} from '@perennial/wire';
import { type ByteReader, readAtMost } from './bytes.js';
import { readClock, unlessAborted } from './clock.js';
import { readDiagnosis, type SignatureDiagnosis } from './diagnosis.js';
import type { ConnectionFailure } from './errors.js';
import { isObject } from './fields.js';
import { parseJson } from './json.js';

/** The part of fetch that this client uses. */
export type Fetch = (
  url: string,
  init: {
    method: 'POST' | 'GET';
    headers: Record<string, string>;
    body?: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The response's body. It is read in chunks if it has a reader, otherwise with the method `text`. */
  readonly body?: unknown;
  text(): Promise<string>;
}>;

type Fetched = Awaited<ReturnType<Fetch>>;

/** The longest response that is read. Only a list of many very long orders can be longer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** One request. Every attempt has a new signature. */
export interface Exchange {
  readonly endpoint: Endpoint;
  readonly body: string;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface Sender {
  readonly baseUrl: string;
  readonly appId: string;
  readonly appSecret: Uint8Array;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  readonly now: () => number;
  /** The version in which answers are encrypted. */
  readonly encryption: EncryptionVersion;
}

export interface Answer {
  readonly kind: 'answer';
  readonly httpStatus: number;
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
  readonly requestId: string;
  readonly timestamp: string;
  readonly replayed: boolean;
  readonly retryAfterMs: number | undefined;
  /** The names of the mistakes that the sandbox found in the signature or the timestamp. */
  readonly mistakes: readonly string[];
  /** Probable mistakes in the request that did not change its answer. Sandbox only. */
  readonly warning: string | undefined;
  /** The whole body as received. */
  readonly json: string;
}

export interface NoAnswer {
  readonly kind: 'no-answer';
  readonly reason: ConnectionFailure;
  readonly message: string;
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly cause: unknown;
}

const encoder = new TextEncoder();

/** Sends the request once. Throws only if the caller aborts or supplies a broken clock. */
export async function exchange(sender: Sender, request: Exchange): Promise<Answer | NoAnswer> {
  const { signal } = request;
  signal?.throwIfAborted();
  const headers = headersOf(sender, request);
  return limitTime(
    sender.timeoutMs,
    signal,
    (limit) => sendOnce(sender, request, headers, limit),
    (cause, isLate) => {
      if (isLate) return noAnswer('timeout', `no answer within ${sender.timeoutMs} ms`, undefined, cause);
      if (isPlainHttp(cause)) {
        const { host } = new URL(sender.baseUrl);
        return noAnswer('unreadable-answer', `${host} speaks http, not https: check baseUrl`, undefined, cause);
      }
      return noAnswer('connection', `${sender.baseUrl} cannot be reached${detailOf(cause)}`, undefined, cause);
    },
  );
}

/**
 * Runs `work` for at most `ms` milliseconds. Throws only if the caller aborts. After any other failure, returns the
 * result of `instead`.
 */
async function limitTime<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (limit: AbortSignal) => Promise<Result>,
  instead: (cause: unknown, isLate: boolean) => Result,
): Promise<Result> {
  // Does not use AbortSignal.any, which the oldest supported runtime lacks.
  const limit = new AbortController();
  const giveUp = () => limit.abort(signal?.reason);
  signal?.addEventListener('abort', giveUp, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    limit.abort();
  }, ms);
  try {
    // Stops waiting when the signal is aborted, because a custom fetch may ignore the signal.
    return await unlessAborted(work(limit.signal), limit.signal);
  } catch (cause) {
    signal?.throwIfAborted();
    return instead(cause, isLate);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** The timeout for fetching a diagnosis: short, because it is optional and the caller waits for the error. */
const DIAGNOSIS_TIMEOUT_MS = 3_000;

/** Fetches the sandbox's full diagnosis. Returns undefined if it is unavailable, such as when another node has it. */
export function fetchDiagnosis(
  { baseUrl, fetch, timeoutMs }: Sender,
  { requestId, signal }: Pick<Exchange, 'requestId' | 'signal'>,
): Promise<SignatureDiagnosis | undefined> {
  const address = `${baseUrl}/developers/refused/${encodeURIComponent(requestId)}`;
  const headers = { accept: 'application/json' };
  return limitTime<SignatureDiagnosis | undefined>(
    Math.min(timeoutMs, DIAGNOSIS_TIMEOUT_MS),
    signal,
    async (limit) => {
      const response = await fetch(address, { method: 'GET', headers, redirect: 'manual', signal: limit });
      const json = response.status === 200 ? await readText(response) : undefined;
      return json === undefined ? undefined : readDiagnosis(parseJson(json));
    },
    () => undefined,
  );
}

async function sendOnce(
  sender: Sender,
  request: Exchange,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Answer | NoAnswer> {
  const response = await sender.fetch(sender.baseUrl + request.endpoint.path, {
    method: 'POST',
    headers,
    body: request.body,
    redirect: 'manual',
    signal,
  });
  const json = await readText(response);
  if (json === undefined) {
    return noAnswer('unreadable-answer', `an answer of more than ${MAX_ANSWER_BYTES} bytes`, response.status);
  }
  return readAnswer(request.endpoint, response, json, sender.now());
}

/** Returns the text of the response, or undefined if it is too long. */
async function readText(response: Fetched): Promise<string | undefined> {
  const body = response.body as { getReader?: () => ByteReader } | null | undefined;
  if (typeof body?.getReader !== 'function') return response.text();
  const bytes = await readAtMost(body.getReader(), MAX_ANSWER_BYTES);
  return bytes && new TextDecoder().decode(bytes);
}

function headersOf(sender: Sender, { endpoint, body, requestId, token, idempotencyKey }: Exchange) {
  const timestamp = String(readClock(sender.now));
  const nonce = toHex(randomBytes(16));
  const bodySha256 = sha256Hex(encoder.encode(body));
  const parts = { path: endpoint.path, query: '', bodySha256, timestamp, nonce, requestId };
  return {
    [HEADERS.contentType]: CONTENT_TYPE,
    [HEADERS.appId]: sender.appId,
    [HEADERS.timestamp]: timestamp,
    [HEADERS.nonce]: nonce,
    [HEADERS.requestId]: requestId,
    [HEADERS.signature]: signRequest(parts, sender.appSecret),
    [HEADERS.encryptedFields]: sender.encryption,
    ...(token === undefined ? {} : { [HEADERS.authorization]: `Bearer ${token}` }),
    ...(idempotencyKey === undefined ? {} : { [HEADERS.idempotencyKey]: idempotencyKey }),
  };
}

function readAnswer(endpoint: Endpoint, response: Fetched, json: string, now: number): Answer | NoAnswer {
  const { status: httpStatus, headers } = response;
  const envelope = parseEnvelope(json);
  const retryAfterMs = readRetryAfter(headers.get(HEADERS.retryAfter), now);
  if (envelope === undefined || !isWhole(endpoint, envelope, httpStatus)) {
    return { ...noAnswer('unreadable-answer', notTheService(httpStatus), httpStatus), retryAfterMs };
  }
  return {
    kind: 'answer',
    httpStatus,
    code: envelope.code,
    message: textOf(envelope.message),
    data: envelope.data ?? null,
    requestId: textOf(envelope.requestId),
    timestamp: textOf(envelope.timestamp),
    replayed: headers.get(HEADERS.idempotencyReplayed) === 'true',
    retryAfterMs,
    mistakes: readNames(headers.get(HEADERS.diagnosis)),
    warning: headers.get(HEADERS.warning) ?? undefined,
    json,
  };
}

interface ReadEnvelope {
  readonly code: string;
  readonly message?: unknown;
  readonly data?: unknown;
  readonly requestId?: unknown;
  readonly timestamp?: unknown;
}

function notTheService(httpStatus: number): string {
  const what = isRedirect(httpStatus) ? 'a redirect' : 'something that is not the service';
  return `${what} answered with HTTP ${httpStatus}: check baseUrl`;
}

/** Returns true if the envelope is complete. A success must have HTTP 200, code 0 and data. */
function isWhole({ name }: Endpoint, { code, data }: ReadEnvelope, httpStatus: number): boolean {
  if (code !== CODES.SUCCESS.code) return true;
  if (httpStatus !== CODES.SUCCESS.http || !isObject(data) || Array.isArray(data)) return false;
  return name !== 'auth/token' || isSendable(data['accessToken']);
}

/**
 * Returns true if a header can hold the token: it is visible ASCII. Otherwise fetch's error would contain the token.
 */
const isSendable = (token: unknown): boolean => typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);

/** Returns true for a redirect. Browsers report status 0 for a redirect that was not followed. */
const isRedirect = (httpStatus: number): boolean => httpStatus === 0 || (httpStatus >= 300 && httpStatus < 400);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * The format of all result codes, known or not. A code in a different format comes from another server, not from the
 * service.
 */
const CODE_FORM = /^(0|[0-9]{6})$/;

function parseEnvelope(json: string): ReadEnvelope | undefined {
  try {
    const value = parseJson(json) as Partial<ReadEnvelope> | null;
    const { code } = value ?? {};
    return typeof code === 'string' && CODE_FORM.test(code) ? (value as ReadEnvelope) : undefined;
  } catch {
    return undefined;
  }
}

const readNames = (text: string | null): string[] => (text ?? '').split(',').flatMap((name) => name.trim() || []);

/** Parses the header Retry-After, seconds or a date, into milliseconds. Returns undefined for anything else. */
function readRetryAfter(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const noAnswer = (
  reason: ConnectionFailure,
  message: string,
  httpStatus: number | undefined,
  cause?: unknown,
): NoAnswer => ({ kind: 'no-answer', reason, message, httpStatus, retryAfterMs: undefined, cause });

/** Returns true if the error is the one that OpenSSL reports for a server that answers in plain HTTP. */
const isPlainHttp = (cause: unknown): boolean =>
  (innerOf(cause) as { code?: unknown } | undefined)?.code === 'ERR_SSL_WRONG_VERSION_NUMBER';

/** Returns the inner error, because Node's outer error only says "fetch failed". */
const innerOf = (cause: unknown): unknown =>
  cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;

function detailOf(cause: unknown): string {
  const inner = innerOf(cause);
  return inner instanceof Error && inner.message !== '' ? `: ${inner.message}` : '';
}
