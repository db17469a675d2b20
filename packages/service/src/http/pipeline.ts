import { CODES, formatTime, HEADERS, sha256Hex } from '@perennial/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.js';
import type { Answer, onceRunner } from '../idempotency/once.js';
import type { admission } from './admission.js';
import type { CallerFailures } from './failures.js';
import { readJsonObject } from './json-body.js';
import { LARGE_BODY_BYTES, type LargeBodies } from './large-bodies.js';
import { sendAnswer } from './respond.js';
import type { Route } from './routes.js';
import { checkTimestamp, readIdempotencyKey, readSignedHeaders, type SignedHeaders } from './signed-headers.js';
import { serializerOf, validatorOf } from './validate.js';

export interface PipelineDeps {
  readonly clock: Clock;
  readonly failures: CallerFailures;
  readonly bodies: LargeBodies;
  readonly admit: ReturnType<typeof admission>;
  readonly runOnce: ReturnType<typeof onceRunner>;
}

/**
 * The way of a request, top to bottom, in the order in which its faults are answered (docs/request.md):
 * before the body is read, `open`; with the raw bytes in hand, `serve`.
 */
export function pipeline(route: Route, { clock, failures, bodies, admit, runOnce }: PipelineDeps) {
  const { endpoint } = route;
  const validate = validatorOf(endpoint);
  const serialize = serializerOf(endpoint);
  const opened = new WeakMap<FastifyRequest, SignedHeaders>();
  const answer = (data: unknown): Answer => ({
    code: CODES.SUCCESS.code,
    message: CODES.SUCCESS.message,
    data: serialize(data),
  });

  async function open(request: FastifyRequest): Promise<void> {
    await failures.check(request);
    const headers = readSignedHeaders(request.raw, endpoint.token);
    checkTimestamp(headers.timestamp, clock.now());
    opened.set(request, headers);
  }

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    try {
      return await serveBody(request, reply, raw);
    } finally {
      bodies.release(raw);
    }
  }

  async function serveBody(request: FastifyRequest, reply: FastifyReply, raw: Buffer): Promise<FastifyReply> {
    const headers = opened.get(request);
    if (!headers) throw new Error('a request was served that was never opened');
    const inTurn = <T>(work: () => T) => (raw.length > LARGE_BODY_BYTES ? bodies.inTurn(work) : work());
    const bodySha256 = await inTurn(() => sha256Hex(raw));
    const [path = '', query = ''] = splitOnce(request.raw.url ?? '', '?');
    const idempotencyKey = endpoint.write ? keyOrRefusal(request) : undefined;
    const { channel, idempotency } = await admit({
      headers,
      path,
      query,
      bodySha256,
      address: request.ip,
      idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
    });
    if (idempotencyKey instanceof Error) throw idempotencyKey;
    const body = await inTurn(() => validate(readJsonObject(raw, request.headers['content-encoding'])));
    const result = await runOnce(
      {
        channelId: channel.channelId,
        key: idempotencyKey,
        path,
        bodySha256: Buffer.from(bodySha256, 'hex'),
        known: idempotency,
      },
      (once) => route.action({ channel, requestId: request.id, once, answer }, body),
    );
    if (result.replayed) void reply.header(HEADERS.idempotencyReplayed, 'true');
    return sendAnswer(reply, CODES.SUCCESS.http, result, formatTime(clock.now()));
  }

  return { open, serve };
}

/** A malformed key is a parameter error, and those are answered after authentication. */
function keyOrRefusal(request: FastifyRequest): string | undefined | Error {
  try {
    return readIdempotencyKey(request.raw);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
