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
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
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

/** The signed side of a reference program: its operations, and the faults that happen to an answer on its way. */
export function createSignedServer<Operation extends string, Occasion, Fault extends string>(
  options: SignedServerOptions<Operation, Occasion, Fault>,
): FastifyInstance {
  const { key, clock, operations, prepare, takeFault, timers, answerMs, log } = options;
  const app = fastify({
    logger: false,
    bodyLimit: MAX_MESSAGE_BYTES,
    requestTimeout: 30_000,
    keepAliveTimeout: 75_000,
    forceCloseConnections: true,
  });
  // Bodies stay bytes: the signature is over them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'there is nothing here'));
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status < 500) return refuse(reply, status, 'the request cannot be read');
    log?.error({ err: error }, 'fault');
    return refuse(reply, 500, 'internal error');
  });
  for (const operation of operations) {
    app.post(`/${operation}`, (request, reply) => serve(operation, request, reply));
  }

  async function serve(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = '', query = ''] = (request.raw.url ?? '').split('?', 2);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const checked = checkSignature({ path, query, headers: request.headers, body, now: clock.now() }, key);
    // The refusal is not signed: a client that cannot sign gets no signature.
    if (!checked.trusted) return refuse(reply, 401, checked.why);

    const answer = (status: number, bytes: Buffer, withKey = key): FastifyReply =>
      reply
        .code(status)
        .header('content-type', CONTENT_TYPE)
        .header(BRIDGE_HEADERS.signature, signResponse(path, checked.nonce, bytes, withKey))
        .send(bytes);

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
        return answer(500, toJson({ error: 'internal error' }));
      }
      result = await prepared.run(fault);
    } catch (error) {
      if (error instanceof BadMessage) return answer(400, toJson({ error: error.message }));
      if (error instanceof NumberConflict) return answer(409, toJson({ error: error.message }));
      throw error;
    }

    switch (fault) {
      case 'answer-lost':
        reply.hijack();
        request.raw.socket.destroy();
        return reply;
      case 'error-after':
        return answer(500, toJson({ error: 'internal error' }));
      case 'delay':
        await new Promise<void>((resolve) => timers.after(answerMs(), resolve));
        return answer(200, toJson(result));
      case 'forged-answer':
        return answer(200, toJson(result), randomBytes(KEY_BYTES));
      case 'garbage-answer':
        return answer(200, Buffer.from('<html>It works!</html>'));
      case 'oversized-answer':
        return answer(200, toJson({ ...result, padding: ' '.repeat(MAX_STATEMENT_BYTES) }));
      default:
        return answer(200, toJson(result));
    }
  }
  return app;
}

function refuse(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).header('content-type', CONTENT_TYPE).send(toJson({ error }));
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
