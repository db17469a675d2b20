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
import { parseBridgeAddress } from './bridge-address.js';

export interface BridgeClientOptions {
  /** Address of the bridge. The name of the operation is appended to its path. */
  readonly url: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly connections: number;
  readonly log: Logger | undefined;
  /** Name of the other side in the log. */
  readonly peer?: string;
}

export interface BridgeCall {
  readonly operation: string;
  /** May contain card data: it is sent, and used for nothing else. */
  readonly body: object;
  readonly number?: string;
  /** The request that it is made for. */
  readonly origin?: Origin | undefined;
  readonly deadlineMs: number;
  readonly maxBytes: number;
}

export interface BridgeClient {
  /** The answer, if it can be trusted. Undefined when there is none: then the call may or may not have had an effect. */
  call(call: BridgeCall): Promise<Fields | undefined>;
  close(): Promise<void>;
}

export function createBridgeClient({
  url,
  key,
  clock,
  connections,
  log,
  peer = 'bridge',
}: BridgeClientOptions): BridgeClient {
  const { origin: address, basePath } = parseBridgeAddress(url);
  if (key.length !== KEY_BYTES) throw new PlainError(`the key of a bridge must have ${KEY_BYTES} bytes`);
  // One request at a time on a connection: with pipelining, a slow debit would delay those behind it.
  // Loaded only by nodes that call a bridge, since loading it takes a tenth of the time of a start.
  const pool = import('undici').then(({ Pool }) => new Pool(address, { connections, pipelining: 1, allowH2: false }));
  const tracing = findTracing();

  async function exchange(call: BridgeCall, requestId: string, traceparent: string | undefined): Promise<Fields> {
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
      // One deadline for everything: waiting for a connection, connecting, headers and body.
      signal: AbortSignal.timeout(call.deadlineMs),
    });
    const answer = await readUpTo(response.body, call.maxBytes);
    if (answer === undefined) throw new UntrustedAnswer('the answer is too large');
    // Redirects are not followed, and any other status than 200 has no outcome.
    if (response.statusCode !== 200) throw new UntrustedAnswer(`HTTP status ${response.statusCode}`);
    const signature = response.headers[BRIDGE_HEADERS.signature];
    if (!isSignedResponse(signature, path, headers[BRIDGE_HEADERS.nonce] ?? '', answer, key)) {
      throw new UntrustedAnswer('the signature of the answer does not match');
    }
    const fields = readFields(answer);
    if (fields === undefined) throw new UntrustedAnswer('the answer is not a JSON object');
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
        const why = describeFailure(error);
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

class UntrustedAnswer extends Error {}

/** Only names and codes of errors: the message of an HTTP client may contain what was sent. */
function describeFailure(error: unknown): string {
  if (error instanceof UntrustedAnswer) return error.message;
  if (!(error instanceof Error)) return 'something that is no error';
  if (error.name === 'TimeoutError') return 'the deadline has passed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

async function readUpTo(stream: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop closes the connection, so the rest is not read.
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
