import { CODES, envelopeText, HEADERS, Rejection, type ResultCode } from '@perennial/wire';
import type { FastifyReply } from 'fastify';
import { Unavailable } from '../../platform/db/database.js';
import { NotBegun } from '../../platform/db/sharing/caller.js';
import { TooManyAtOnce } from '../../platform/db/sharing/channel-queue.js';
import { ListTooLong } from '../../platform/lists/list-page.js';
import { redactSecrets } from '../../platform/log/log.js';
import { RateLimited } from './minute-limit.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers had arrived, by performance.now(). Fastify's own time is taken too early. */
    startedAt: number;
  }
  interface FastifyReply {
    /** The result code that was answered, for the log line and the metrics. */
    resultCode?: string;
    /** Of a refusal: the message that was answered, for the log of requests. */
    refusalMessage?: string;
    /** Of a refusal that was diagnosed: the names of the mistakes, for the log line. */
    diagnosedMistakes?: readonly string[];
    /** Of a 503001: what kept the node from serving the request, for the log line. */
    why?: string;
    /** Why the answer was not sent to its end. Unset also when the client has hung up. */
    cut?: 'slow' | 'fault' | 'stopping';
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** An answer whose data is one text. */
export interface TextAnswer {
  readonly code: string;
  readonly message: string;
  readonly data: string;
}

export function sendAnswer(reply: FastifyReply, http: number, answer: TextAnswer, timestamp: string): FastifyReply {
  reply.resultCode = answer.code;
  return sendText(reply, http, envelopeText(answer, answer.message, answer.data, reply.request.id, timestamp));
}

export function sendText(reply: FastifyReply, http: number, text: string): FastifyReply {
  return reply.code(http).header('content-type', JSON_TYPE).send(text);
}

/** The log line of a page. It names the route, never the address, because a redemption link gives access. */
export function pageLine({ request, statusCode: status, elapsedTime }: FastifyReply) {
  const { id: requestId, method, routeOptions } = request;
  return { requestId, method, endpoint: routeOptions.url, status, ms: Math.round(elapsedTime * 10) / 10 };
}

/** No fault: this node has as much to do as it can. */
export class NodeBusy extends Unavailable {
  constructor(message = 'busy') {
    super(message);
  }
}

/** This node is stopping: another one will answer. */
export class NodeDraining extends NodeBusy {
  override message = 'draining';
}

/** This node waits for its database, and has served nothing yet: another one will answer. */
export class NodeStarting extends NodeBusy {
  override message = 'starting';
}

/** This node waits for an operator's decision. The message says which, and is shown to whoever asks for readiness. */
export class NodeAwaitsDecision extends NodeBusy {}

/** This node does not know what time it is: another one will answer. */
export class NodeClockWrong extends NodeBusy {
  override message = 'the clock is wrong';
}

/** ENGINE=off: writes, and calls to other systems, are for a node whose engine is on. */
export class NodeReadsOnly extends NodeBusy {
  override message = 'the engine is off: this node serves reads only';
}

export interface Refusal {
  readonly result: ResultCode;
  /** Overrides the status of the code, where 200 would mean success. */
  readonly http?: number;
  readonly message: string;
  /** In the sandbox: the names of the mistakes that the message describes, for a header and the log line. */
  readonly mistakes?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Of a 503001, for the log: lines about an outage are summed up, and this tells of each request which one it met. */
  readonly why?: string;
  /** A fault is logged with its cause; a refusal is not, it is an error of the caller. */
  readonly isFault: boolean;
}

/** The one place where an error becomes a result code. Nothing of an unexpected error reaches the caller. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof RateLimited) {
    return createRefusal(error.result, error.message, { [HEADERS.retryAfter]: String(error.retryAfterSeconds) });
  }
  if (error instanceof TooManyAtOnce) return createRefusal(error.result, error.message, { [HEADERS.retryAfter]: '1' });
  if (error instanceof Rejection) return createRefusal(error.result, error.message);
  if (error instanceof Unavailable) {
    const isDraining = error instanceof NodeDraining;
    const isTooLong = error instanceof ListTooLong;
    const isReadsOnly = error instanceof NodeReadsOnly;
    const isShown = isTooLong || isReadsOnly || error instanceof NodeAwaitsDecision;
    const message = isShown ? error.message : CODES.UNAVAILABLE.message;
    const headers = { [HEADERS.retryAfter]: isReadsOnly ? '60' : '1', ...(isDraining ? { connection: 'close' } : {}) };
    return {
      ...createRefusal(CODES.UNAVAILABLE, message, headers),
      why: redactSecrets(error.message),
      isFault: !(error instanceof NodeBusy || error instanceof NotBegun || isTooLong),
    };
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return createRefusal(CODES.PARAM_INVALID, 'header Content-Type cannot be read', { connection: 'close' });
  }
  return { ...createRefusal(CODES.INTERNAL_ERROR, CODES.INTERNAL_ERROR.message), isFault: true };
}

/** The rest of the body is not read, so the connection cannot be used for another request. */
export function createBodyTooLargeRefusal(): Refusal {
  return createRefusal(CODES.BODY_TOO_LARGE, CODES.BODY_TOO_LARGE.message, { connection: 'close' });
}

function createRefusal(result: ResultCode, message: string, headers: Refusal['headers'] = {}): Refusal {
  return { result, message, headers, isFault: false };
}
