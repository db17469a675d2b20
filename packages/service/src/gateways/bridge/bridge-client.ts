import { randomUUID } from 'node:crypto';
import { trimSlashes } from '@perennial/wire';
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
import { ClosedWithoutAnswer } from '../../platform/http-client/connection.js';
import { DeadlinePassed } from '../../platform/http-client/deadline.js';
import { BadAnswer } from '../../platform/http-client/incoming-bytes.js';
import type { PeerAccess } from '../../platform/http-client/peer-access.js';
import { ClientClosed, createPostClient } from '../../platform/http-client/post-client.js';
import { createEndpoint, createRequest, type Endpoint } from '../../platform/http-client/request.js';
import { PlainError } from '../../platform/plain-error.js';
import { failSpan, findTracing, type Origin, TRACEPARENT, toTraceparent } from '../../platform/tracing.js';
import { parseBridgeAddress } from './bridge-address.js';

export interface BridgeClientOptions {
  /** The address of the bridge. The name of the operation is appended to its path. */
  readonly url: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly connections: number;
  readonly log: Logger | undefined;
  /** Default: no client certificate, the certificate authorities that Node trusts, no proxy. */
  readonly peers?: PeerAccess | undefined;
  /** The name of the other side in the log. */
  readonly peer?: string;
}

export interface BridgeCall {
  readonly operation: string;
  /** May contain card data, so it is only sent, never logged. */
  readonly body: object;
  readonly number?: string;
  /** The API request that caused the call. */
  readonly origin?: Origin | undefined;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  /** The answer to assume if the bridge does not know the operation. If undefined, such a call has no answer. */
  readonly ifMissing?: Fields;
  /** Called with the reason if there is no usable answer. */
  readonly onFailure?: (why: string) => void;
}

export function createBridgeClient({ url, key, clock, connections, log, peers, peer = 'bridge' }: BridgeClientOptions) {
  const base = parseBridgeAddress(url);
  const { origin: address } = base;
  if (key.length !== KEY_BYTES) throw new PlainError(`the key of a bridge must have ${KEY_BYTES} bytes`);
  // Sends one request at a time per connection, because with pipelining a slow debit would delay the requests behind
  // it.
  const client = createPostClient(base, { maxConnections: connections, peers });
  const endpoints = new Map<string, Endpoint>();
  const tracing = findTracing();

  function endpointOf(operation: string): Endpoint {
    const known = endpoints.get(operation);
    if (known) return known;
    const endpoint = createEndpoint(new URL(`${trimSlashes(base.pathname)}/${operation}`, base));
    endpoints.set(operation, endpoint);
    return endpoint;
  }

  async function exchange(call: BridgeCall, requestId: string, traceparent: string | undefined): Promise<Fields> {
    const endpoint = endpointOf(call.operation);
    const { path } = endpoint;
    const body = JSON.stringify(call.body);
    const signed = signedHeaders({ path, body: Buffer.from(body), now: clock.now(), requestId }, key);
    let headers = `content-type: ${CONTENT_TYPE}\r\n`;
    for (const name in signed) headers += `${name}: ${signed[name]}\r\n`;
    if (call.number !== undefined) headers += `${BRIDGE_HEADERS.idempotencyKey}: ${call.number}\r\n`;
    if (traceparent !== undefined) headers += `${TRACEPARENT}: ${traceparent}\r\n`;
    // Reads up to twice the limit, because the framing of a chunked body counts too and may be as long as the body.
    const wanted = { maxBytes: 2 * call.maxBytes, encoding: 'latin1', header: BRIDGE_HEADERS.signature } as const;
    const answer = await client.post(createRequest(endpoint, { headers, body }), wanted, call.deadlineMs);
    if (answer.isCut || answer.body.length > call.maxBytes) throw new UntrustedAnswer('the answer is too large');
    if (call.ifMissing && UNKNOWN_OPERATION.includes(answer.status)) return call.ifMissing;
    // Redirects are not followed, and an answer with a status other than 200 says nothing about the outcome.
    if (answer.status !== 200) throw new UntrustedAnswer(`HTTP status ${answer.status}`);
    const bytes = Buffer.from(answer.body, 'latin1');
    if (!isSignedResponse(answer.header, path, signed[BRIDGE_HEADERS.nonce] ?? '', bytes, key)) {
      throw new UntrustedAnswer('the signature of the answer does not match');
    }
    const fields = readFields(bytes);
    if (fields === undefined) throw new UntrustedAnswer('the answer is not a JSON object');
    return fields;
  }

  return {
    /** Returns the answer if it can be trusted, else undefined: the call may or may not have had an effect. */
    async call(call: BridgeCall): Promise<Fields | undefined> {
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
        call.onFailure?.(why);
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
    close: (): void => client.close(),
  };
}

export type BridgeClient = ReturnType<typeof createBridgeClient>;

/** The statuses with which servers answer requests to an unknown path. */
const UNKNOWN_OPERATION = [400, 404, 405, 501];

class UntrustedAnswer extends Error {}

/**
 * Returns a text of this client, or only the error's name or code, because the operating system's message may contain
 * the data that was sent.
 */
function describeFailure(error: unknown): string {
  if (error instanceof UntrustedAnswer || error instanceof BadAnswer) return error.message;
  if (error instanceof DeadlinePassed) return 'the deadline has passed';
  if (error instanceof ClientClosed) return 'this node has closed the connection';
  if (error instanceof ClosedWithoutAnswer) return describeCause(error.cause) ?? 'the connection was closed';
  return describeCause(error) ?? 'unknown error';
}

function describeCause(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
