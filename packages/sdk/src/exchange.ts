import {
  CODES,
  CONTENT_TYPE,
  type Endpoint,
  HEADERS,
  randomBytes,
  sha256Hex,
  signRequest,
  toHex,
} from '@perennial/wire';
import type { ConnectionFailure } from './errors.js';

/** As much of fetch as is used. */
export type Fetch = (
  url: string,
  init: {
    method: 'POST';
    headers: Record<string, string>;
    body: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** One request as it is to be sent; every try of it is signed anew. */
export interface Exchange {
  readonly endpoint: Endpoint;
  /** JSON. */
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
  now(): number;
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
  /** The whole body as it came. */
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

/** Sends it once. Throws only when the caller has given up. */
export async function exchange(sender: Sender, request: Exchange): Promise<Answer | NoAnswer> {
  const { signal } = request;
  signal?.throwIfAborted();
  // Not AbortSignal.any, which is younger than the rest of what is needed here.
  const limit = new AbortController();
  const giveUp = () => limit.abort(signal?.reason);
  signal?.addEventListener('abort', giveUp, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    limit.abort();
  }, sender.timeoutMs);
  try {
    const response = await sender.fetch(sender.baseUrl + request.endpoint.path, {
      method: 'POST',
      headers: headersOf(sender, request),
      body: request.body,
      redirect: 'manual',
      signal: limit.signal,
    });
    return readAnswer(response.status, response.headers, await response.text(), sender.now());
  } catch (cause) {
    signal?.throwIfAborted();
    if (isLate) return noAnswer('timeout', `no answer within ${sender.timeoutMs} ms`, undefined, cause);
    return noAnswer('connection', `${sender.baseUrl} cannot be reached${detailOf(cause)}`, undefined, cause);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function headersOf(sender: Sender, { endpoint, body, requestId, token, idempotencyKey }: Exchange) {
  const timestamp = String(sender.now());
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
    ...(token === undefined ? {} : { [HEADERS.authorization]: `Bearer ${token}` }),
    ...(idempotencyKey === undefined ? {} : { [HEADERS.idempotencyKey]: idempotencyKey }),
  };
}

function readAnswer(
  httpStatus: number,
  headers: { get(name: string): string | null },
  json: string,
  now: number,
): Answer | NoAnswer {
  const envelope = parseEnvelope(json);
  const retryAfterMs = readRetryAfter(headers.get(HEADERS.retryAfter), now);
  // A success is HTTP 200 and code 0 together.
  if (envelope === undefined || (envelope.code === CODES.SUCCESS.code && httpStatus !== CODES.SUCCESS.http)) {
    const what = httpStatus >= 300 && httpStatus < 400 ? 'a redirect' : 'something that is not the service';
    const message = `${what} answered with HTTP ${httpStatus}: check baseUrl`;
    return { ...noAnswer('unreadable-answer', message, httpStatus), retryAfterMs };
  }
  return {
    kind: 'answer',
    httpStatus,
    code: envelope.code,
    message: envelope.message ?? '',
    data: envelope.data ?? null,
    requestId: envelope.requestId ?? '',
    timestamp: envelope.timestamp ?? '',
    replayed: headers.get(HEADERS.idempotencyReplayed) === 'true',
    retryAfterMs,
    json,
  };
}

interface ReadEnvelope {
  readonly code: string;
  readonly message?: string;
  readonly data?: unknown;
  readonly requestId?: string;
  readonly timestamp?: string;
}

function parseEnvelope(json: string): ReadEnvelope | undefined {
  try {
    const value = JSON.parse(json) as Partial<ReadEnvelope> | null;
    return typeof value?.code === 'string' ? (value as ReadEnvelope) : undefined;
  } catch {
    return undefined;
  }
}

/** In seconds, or as a date. Undefined when it is neither. */
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

/** Node hides what happened behind "fetch failed". */
function detailOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error && inner.message !== '' ? `: ${inner.message}` : '';
}
