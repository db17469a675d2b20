import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  type Fields,
  isSignedResponse,
  KEY_BYTES,
  readFields,
  signedHeaders,
} from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.js';
import { PlainError } from '../../platform/plain-error.js';
import { failSpan, findTracing, type Origin, TRACEPARENT, toTraceparent } from '../../platform/tracing.js';

export interface ClientOptions {
  /** Of the bridge: the operations' names are put behind its path. */
  readonly url: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly connections: number;
  readonly log: Logger | undefined;
  /** What the log calls the other side. */
  readonly peer?: string;
}

export interface Call {
  readonly operation: string;
  /** May hold card data: it is sent, and otherwise never looked at. */
  readonly body: object;
  readonly number?: string;
  /** The request that it is made for. */
  readonly origin?: Origin | undefined;
  readonly deadlineMs: number;
  readonly maxBytes: number;
}

export interface BridgeClient {
  /** The trusted answer, or undefined when there is none: then nobody knows whether the call had an effect. */
  call(call: Call): Promise<Fields | undefined>;
  close(): Promise<void>;
}

export function bridgeClient({ url, key, clock, connections, log, peer = 'bridge' }: ClientOptions): BridgeClient {
  const { origin: address, basePath } = addressOf(url);
  if (key.length !== KEY_BYTES) throw new PlainError(`the key of a bridge must have ${KEY_BYTES} bytes`);
  // One request at a time on a connection: with pipelining, one slow debit would hold up those behind it.
  // Loaded by nodes that call a bridge: it is a tenth of a start.
  const pool = import('undici').then(({ Pool }) => new Pool(address, { connections, pipelining: 1, allowH2: false }));
  const tracing = findTracing();

  async function exchange(call: Call, requestId: string, traceparent: string | undefined): Promise<Fields> {
    const path = `${basePath}/${call.operation}`;
    const body = Buffer.from(JSON.stringify(call.body));
    const headers = signedHeaders({ path, body, now: clock.now(), requestId }, key);
    const response = await (await pool).request({
      method: 'POST',
      path,
      body,
      headers: {
        'content-type': CONTENT_TYPE,
        ...headers,
        ...(call.number === undefined ? {} : { [BRIDGE_HEADERS.idempotencyKey]: call.number }),
        ...(traceparent === undefined ? {} : { [TRACEPARENT]: traceparent }),
      },
      // The one deadline: waiting for a connection, making it, headers and body.
      signal: AbortSignal.timeout(call.deadlineMs),
    });
    const answer = await readUpTo(response.body, call.maxBytes);
    if (answer === undefined) throw new Untrusted('the answer is too large');
    // Redirects are not followed, and whatever else is not 200 has no outcome in it.
    if (response.statusCode !== 200) throw new Untrusted(`HTTP status ${response.statusCode}`);
    const signature = response.headers[BRIDGE_HEADERS.signature];
    if (!isSignedResponse(signature, path, headers[BRIDGE_HEADERS.nonce] ?? '', answer, key)) {
      throw new Untrusted('the signature of the answer does not match');
    }
    const fields = readFields(answer);
    if (fields === undefined) throw new Untrusted('the answer is not a JSON object');
    return fields;
  }

  return {
    async call(call) {
      const callId = randomUUID();
      const { operation, number, origin } = call;
      const span = tracing?.startCall(`${peer} ${operation}`, {
        'server.address': address,
        'perennial.operation': operation,
      }).span;
      try {
        const fields = await exchange(call, callId, span ? toTraceparent(span) : origin?.traceparent);
        span?.end();
        return fields;
      } catch (error) {
        if (span) failSpan(span, error);
        const why = describe(error);
        log?.warn(
          {
            requestId: origin?.requestId,
            callId,
            operation,
            number,
            why,
            cause: `${peer} at ${address}, ${operation}: ${why}`,
          },
          `no answer of the ${peer} that could be trusted`,
        );
        return undefined;
      }
    },
    async close() {
      await (await pool).destroy();
    },
  };
}

class Untrusted extends Error {}

/** Names and codes only: an HTTP client's message may repeat what it was given. */
function describe(error: unknown): string {
  if (error instanceof Untrusted) return error.message;
  if (!(error instanceof Error)) return 'something that is no error';
  if (error.name === 'TimeoutError') return 'the deadline has passed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

async function readUpTo(stream: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop ends the connection, and with it the rest.
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}

function addressOf(text: string): { readonly origin: string; readonly basePath: string } {
  const wrong = 'the address of a bridge must start with http:// or https:// and have no user, query or fragment';
  if (!URL.canParse(text)) throw new PlainError(wrong);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new PlainError(wrong);
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') throw new PlainError(wrong);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
