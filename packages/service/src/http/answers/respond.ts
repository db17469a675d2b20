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
    /** Time at which the headers had arrived, by performance.now(). Fastify's own start time would be too early. */
    startedAt: number;
  }
  interface FastifyReply {
    /** Result code of the answer, for the log line and the metrics. */
    resultCode?: string;
    /** Message of a refusal, for the log of requests. */
    refusalMessage?: string;
    /** Names of the mistakes found in a refused request, for the log line. */
    diagnosedMistakes?: readonly string[];
    /** Reason for a 503001, for the log line. */
    why?: string;
    /** Reason why the answer was not fully sent. Unset if it was sent, or if the client hung up. */
    cut?: 'slow' | 'fault' | 'stopping';
  }
}

/** Thrown if a large body arrives below the minimum speed. */
export class BodyTooSlow extends Rejection {
  constructor() {
    super('PARAM_INVALID', 'the request did not arrive in time');
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** An answer whose data is already serialized. */
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

/** Returns the log fields of a page. They name the route, never the URL, because a redemption link gives access. */
export function pageLine({ request, statusCode: status, elapsedTime }: FastifyReply) {
  const { id: requestId, method, routeOptions } = request;
  return { requestId, method, endpoint: routeOptions.url, status, ms: Math.round(elapsedTime * 10) / 10 };
}

/** The node is at capacity, or cannot serve now for the reason that a subclass names. This is not a fault. */
export class NodeBusy extends Unavailable {
  constructor(message = 'busy') {
    super(message);
  }
}

/** This node is stopping. Another node can answer the retry. */
export class NodeDraining extends NodeBusy {
  override message = 'draining';
}

/** This node waits for its database and has not begun to serve. Another node can answer the retry. */
export class NodeStarting extends NodeBusy {
  override message = 'starting';
}

/** This node waits for an operator's decision. The readiness probe shows the message, which names the decision. */
export class NodeAwaitsDecision extends NodeBusy {}

export class NodeClockWrong extends NodeBusy {
  override message = 'the clock of this node is wrong';
}

/**
 * ENGINE=off: this node serves reads only. The nodes that write and call other systems are those whose engine is on.
 */
export class NodeReadsOnly extends NodeBusy {
  override message = 'the engine is off: this node serves reads only';
}

export interface Refusal {
  readonly result: ResultCode;
  /** Overrides the HTTP status of the result code, for callers that treat every answer with status 200 as a success. */
  readonly http?: number;
  readonly message: string;
  /** Names of the mistakes that the message describes, for a header and the log line. Sandbox only. */
  readonly mistakes?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The reason for a 503001, for the log. The error's own log lines are summarized during an outage, so the line of
   * each request names the reason.
   */
  readonly why?: string;
  /** True if the error is logged with its cause. False for the caller's errors and while the node is only busy. */
  readonly isFault: boolean;
}

/** Maps an error to a result code. Details of unexpected errors never reach the caller. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof RateLimited) {
    return createRefusal(error.result, error.message, { [HEADERS.retryAfter]: String(error.retryAfterSeconds) });
  }
  if (error instanceof TooManyAtOnce) return createRefusal(error.result, error.message, { [HEADERS.retryAfter]: '1' });
  if (error instanceof BodyTooSlow) {
    return { ...createRefusal(error.result, error.message, { connection: 'close' }), http: 408 };
  }
  if (error instanceof Rejection) return createRefusal(error.result, error.message);
  if (error instanceof Unavailable) {
    const isDraining = error instanceof NodeDraining;
    const isTooLong = error instanceof ListTooLong;
    const isReadsOnly = error instanceof NodeReadsOnly;
    const isShown = isTooLong || isReadsOnly || error instanceof NodeAwaitsDecision || error instanceof NodeClockWrong;
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
    return createRefusal(CODES.PARAM_INVALID, 'header Content-Type is malformed', { connection: 'close' });
  }
  return { ...createRefusal(CODES.INTERNAL_ERROR, CODES.INTERNAL_ERROR.message), isFault: true };
}

/** Closes the connection, because the rest of the request body is not read. */
export function createBodyTooLargeRefusal(): Refusal {
  return createRefusal(CODES.BODY_TOO_LARGE, CODES.BODY_TOO_LARGE.message, { connection: 'close' });
}

function createRefusal(result: ResultCode, message: string, headers: Refusal['headers'] = {}): Refusal {
  return { result, message, headers, isFault: false };
}
