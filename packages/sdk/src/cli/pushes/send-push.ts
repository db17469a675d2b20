import http from 'node:http';
import https from 'node:https';
import { CALLBACK_PATH, WEBHOOK_MAX_RESPONSE_BYTES, WEBHOOK_TIMEOUT_MS } from '@perennial/wire';
import { UsageError } from '../frame/io.js';

export interface Push {
  readonly method?: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A receiver's response to a push. */
export type PushAnswer =
  | { readonly kind: 'accepted'; readonly status: number; readonly ms: number }
  /** The receiver answered, but did not accept the push; `why` has the reason. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string | undefined;
      readonly why: string;
      readonly ms: number;
    }
  | { readonly kind: 'late'; readonly why: string; readonly ms: number }
  /** The connection broke before the response was complete: the receiver may have seen the push. */
  | { readonly kind: 'broken'; readonly why: string; readonly ms: number }
  /** There was no connection: the receiver has not seen the push. */
  | { readonly kind: 'unreachable'; readonly why: string };

/** The response to a push that the receiver may have seen. */
export type SeenAnswer = Exclude<PushAnswer, { kind: 'unreachable' }>;

/** Parses a receiver's URL. Throws if it is not HTTP, has a query, or has a path that the service would not call. */
export function readReceiverUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError(`${text} is not a URL such as http://localhost:3000/events`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new UsageError('the URL must begin with http:// or https://');
  if (url.search !== '' || url.hash !== '')
    throw new UsageError('the URL must have no query: events are signed without one');
  if (!CALLBACK_PATH.test(url.pathname)) throw new UsageError(`the service would not call the path ${url.pathname}`);
  return url;
}

/** Sends a push. The bytes are not changed, and the timeout is that of the service. */
export function sendPush(
  url: URL,
  { method = 'POST', headers, body }: Push,
  timeoutMs = WEBHOOK_TIMEOUT_MS,
): Promise<PushAnswer> {
  const began = performance.now();
  const elapsed = () => Math.round(performance.now() - began);
  return new Promise((resolve) => {
    let isConnected = false;
    const bytes = method === 'POST' ? Buffer.from(body) : Buffer.alloc(0);
    const { request: open } = url.protocol === 'https:' ? https : http;
    const request = open(url, { method, agent: false, headers: { ...headers, 'Content-Length': bytes.length } });
    const end = (answer: PushAnswer) => {
      clearTimeout(timer);
      resolve(answer);
      request.destroy();
    };
    const timer = setTimeout(() => {
      const why = `no answer within ${timeoutMs / 1000} s`;
      end(isConnected ? { kind: 'late', why, ms: elapsed() } : { kind: 'unreachable', why });
    }, timeoutMs);
    request.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    request.on('error', (error: NodeJS.ErrnoException & { readonly reason?: string }) => {
      // For TLS errors, prefers `reason`: the message also contains OpenSSL's source position.
      const why = error.reason || error.message || error.code || 'the connection failed';
      end(isConnected ? { kind: 'broken', why, ms: elapsed() } : { kind: 'unreachable', why });
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const { statusCode: status = 0 } = response;
      const judge = () => end(judgeAnswer(status, Buffer.concat(chunks).toString(), elapsed()));
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > WEBHOOK_MAX_RESPONSE_BYTES) judge();
      });
      response.on('end', judge);
      response.on('error', (error) => end({ kind: 'broken', why: error.message, ms: elapsed() }));
      response.on('aborted', () => end({ kind: 'broken', why: 'the answer was incomplete', ms: elapsed() }));
    });
    request.end(bytes);
  });
}

/** Judges a response as the service does: accepted means HTTP 200 and a JSON object whose `code` is the string "0". */
function judgeAnswer(status: number, text: string, ms: number): PushAnswer {
  const code = readCode(text);
  const known = typeof code === 'string' ? code : undefined;
  if (status !== 200) return { kind: 'refused', status, code: known, why: `HTTP ${status}`, ms };
  if (code === '0') return { kind: 'accepted', status, ms };
  if (code === undefined) return { kind: 'refused', status, code: known, why: 'the answer has no JSON code', ms };
  const why = known === undefined ? 'code is not a string: it must be "0" in quotes' : `code ${JSON.stringify(known)}`;
  return { kind: 'refused', status, code: known, why, ms };
}

function readCode(text: string): unknown {
  try {
    return (JSON.parse(text) as { code?: unknown } | null)?.code;
  } catch {
    return undefined;
  }
}

/** Describes a response in a few words. */
export function describePushAnswer(answer: PushAnswer): string {
  switch (answer.kind) {
    case 'accepted':
      return `${answer.status} code 0  ${answer.ms} ms`;
    case 'refused':
      return `${answer.status === 200 ? '200 ' : ''}${answer.why}  ${answer.ms} ms`;
    case 'late':
    case 'broken':
      return `${answer.why}  ${answer.ms} ms`;
    case 'unreachable':
      return answer.why;
  }
}
