import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { randomBytes } from '@perennial/wire';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  checkSignature,
  type Fields,
  KEY_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_STATEMENT_BYTES,
  readFields,
  signResponse,
} from '@perennial/wire/bridge';
import fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from './clock.js';
import type { Timers } from './timers.js';

/** A request that has been parsed: what decides about a fault, and what is done with or without one. */
export interface PreparedRequest<Occasion, Fault> {
  readonly occasion: Occasion;
  run(fault: Fault | undefined): Promise<object>;
  /** Records that the number arrived, for a request that fails before anything is done. */
  recordArrival(): Promise<void>;
}

/** The body is not what the protocol says. */
export class BadMessage extends Error {}
/** The number was used for something else before. */
export class NumberConflict extends Error {}

export function requireField<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BadMessage(`${name} is missing or not valid`);
  return value;
}

export interface SignedServerOptions<Operation extends string, Occasion, Fault extends string> {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly operations: readonly Operation[];
  readonly prepare: (
    operation: Operation,
    fields: Fields,
    idempotencyKey: string | undefined,
  ) => PreparedRequest<Occasion, Fault>;
  readonly takeFault: (occasion: Occasion) => Fault | undefined;
  readonly timers: Timers;
  /** Of the fault `delay`: longer than any deadline of the service. */
  readonly answerMs: () => number;
  readonly log: Logger | undefined;
}

/**
 * The signed side of a reference program: its operations, and the faults that happen to an answer on its way. Operations are
 * answered in front of the framework, which would take twice as long: a measurement of the service should not be one of this.
 */
export function createSignedServer<Operation extends string, Occasion, Fault extends string>(
  options: SignedServerOptions<Operation, Occasion, Fault>,
): FastifyInstance {
  const { key, clock, operations, prepare, takeFault, timers, answerMs, log } = options;
  const operationsByPath = new Map(operations.map((operation) => [`/${operation}`, operation]));
  const app = fastify({
    logger: false,
    bodyLimit: MAX_MESSAGE_BYTES,
    forceCloseConnections: true,
    serverFactory: (handleOther) =>
      createServer({ requestTimeout: 30_000, keepAliveTimeout: 75_000 }, (request, response) => {
        const operation = request.method === 'POST' ? operationsByPath.get(splitUrl(request).path) : undefined;
        if (operation === undefined) handleOther(request, response);
        else serve(operation, request, response).catch((error: unknown) => fail(response, error));
      }),
  });
  // Bodies stay bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => refuse(reply.hijack().raw, 404, 'there is nothing here'));
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status < 500) refuse(reply.hijack().raw, status, 'the request cannot be read');
    else fail(reply.hijack().raw, error);
  });

  function fail(response: ServerResponse, error: unknown): void {
    log?.error({ err: error }, 'fault');
    if (!response.headersSent) refuse(response, 500, 'internal error');
  }

  async function serve(operation: Operation, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = splitUrl(request);
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413, 'the request cannot be read');
    const checked = checkSignature({ path, query, headers: request.headers, body, now: clock.now() }, key);
    // The refusal is not signed: a client that cannot sign gets no signature.
    if (!checked.trusted) return refuse(response, 401, checked.why);

    const answer = (status: number, text: string, withKey = key): void =>
      send(response, status, text, {
        [BRIDGE_HEADERS.signature]: signResponse(path, checked.nonce, Buffer.from(text), withKey),
      });

    let result: object;
    let fault: Fault | undefined;
    try {
      const fields = readFields(body);
      if (fields === undefined) throw new BadMessage('the body is not a JSON object');
      const idempotencyKey = request.headers[BRIDGE_HEADERS.idempotencyKey];
      const prepared = prepare(operation, fields, typeof idempotencyKey === 'string' ? idempotencyKey : undefined);
      fault = takeFault(prepared.occasion);
      if (fault === 'error-before') {
        await prepared.recordArrival();
        return answer(500, INTERNAL_ERROR);
      }
      result = await prepared.run(fault);
    } catch (error) {
      if (error instanceof BadMessage) return answer(400, JSON.stringify({ error: error.message }));
      if (error instanceof NumberConflict) return answer(409, JSON.stringify({ error: error.message }));
      throw error;
    }

    switch (fault) {
      case 'answer-lost':
        request.socket.destroy();
        return;
      case 'error-after':
        return answer(500, INTERNAL_ERROR);
      case 'delay':
        await new Promise<void>((resolve) => timers.after(answerMs(), resolve));
        return answer(200, JSON.stringify(result));
      case 'forged-answer':
        return answer(200, JSON.stringify(result), randomBytes(KEY_BYTES));
      case 'garbage-answer':
        return answer(200, '<html>It works!</html>');
      case 'oversized-answer':
        return answer(200, JSON.stringify({ ...result, padding: ' '.repeat(MAX_STATEMENT_BYTES) }));
      default:
        return answer(200, JSON.stringify(result));
    }
  }
  return app;
}

const INTERNAL_ERROR = JSON.stringify({ error: 'internal error' });

function splitUrl({ url = '' }: IncomingMessage): { readonly path: string; readonly query: string } {
  const [path = '', query = ''] = url.split('?', 2);
  return { path, query };
}

/** Undefined when it is too long. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_MESSAGE_BYTES) resolve(undefined);
        else chunks.push(chunk);
      })
      .on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
      .on('error', reject);
  });
}

function refuse(response: ServerResponse, status: number, error: string): void {
  send(response, status, JSON.stringify({ error }));
}

/** Head and body as texts: Node then writes them at once. */
function send(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, {
    'content-type': CONTENT_TYPE,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
