import { HEADERS, Rejection } from '@perennial/wire';
import type { FastifyReply } from 'fastify';
import { PROBLEM_TITLES, type ProblemKind } from '../../console/problem-titles.js';
import { CodeNeeded, Locked, WrongProof } from '../../console/sessions/sign-in.js';
import { TooManyReads } from '../../operator/audit/trace-read.js';
import { NotFoundError, OperatorError } from '../../operator/operator.js';
import { NotAllowedError } from '../../operator/people/not-allowed.js';
import { TooManySignIns } from '../../operator/people/passwords.js';
import { MALFORMED_CODES } from '../../operator/refusal-codes.js';
import { Unavailable } from '../../platform/db/database.js';
import { TooManyAtOnce } from '../../platform/db/sharing/channel-queue.js';
import { PlainError, type Refusal } from '../../platform/plain-error.js';
import { RateLimited } from '../answers/minute-limit.js';
import { BodyTooSlow, toRefusal } from '../answers/respond.js';
import { HTTP_LIMITS } from '../limits/http-limits.js';
import { LargeBodiesFull } from '../limits/large-bodies.js';
import { answerAndHalfClose } from '../requests/half-close.js';

export class Problem extends Error {
  constructor(
    readonly kind: ProblemKind,
    readonly detail?: string,
    readonly retryAfterSeconds?: number,
    /** The code and values by which the console translates the problem. Unset: the console translates the kind. */
    readonly refusal?: Refusal,
  ) {
    super(detail ?? kind);
  }
}

/** The only function that maps an error to a problem. A fault is logged, and its text is not sent to the client. */
export function toProblem(error: unknown): { readonly problem: Problem; readonly isFault: boolean } {
  const { refusal, message } = error instanceof PlainError ? error : { refusal: undefined, message: undefined };
  const told = (kind: ProblemKind, detail?: string, seconds?: number) => ({
    problem: new Problem(kind, detail, seconds, refusal),
    isFault: false,
  });
  if (error instanceof Problem) return { problem: error, isFault: false };
  if (error instanceof Locked) return told('locked', error.message, error.seconds);
  if (error instanceof CodeNeeded) return told('code-needed');
  if (error instanceof WrongProof) return told('wrong-proof');
  if (error instanceof TooManyReads) return told('locked', error.message, 3600);
  if (error instanceof TooManySignIns) return told('busy', error.message, 2);
  if (error instanceof NotAllowedError) return told('not-allowed', error.message);
  if (error instanceof NotFoundError) return told('not-found', error.message);
  if (refusal && MALFORMED_CODES.has(refusal.code)) return told('invalid', message);
  if (error instanceof OperatorError || (error instanceof PlainError && !(error instanceof Unavailable))) {
    return told('not-possible', error.message);
  }
  if (error instanceof TooManyAtOnce) return told('busy', undefined, 1);
  if (error instanceof LargeBodiesFull) return told('busy', undefined, error.retryAfterSeconds);
  if (error instanceof RateLimited) return told('locked', error.message, error.retryAfterSeconds);
  if (error instanceof BodyTooSlow) return told('too-slow');
  if (error instanceof Rejection) {
    // Without the message, which names the limit of the API.
    return error.result.name === 'BODY_TOO_LARGE' ? told('too-large') : told('invalid', error.message);
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return told('too-large');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return told('invalid', toRefusal(error).message);
  if (error instanceof Unavailable) {
    return { problem: new Problem('busy', undefined, 1), isFault: toRefusal(error).isFault };
  }
  return { problem: new Problem('fault'), isFault: true };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { kind, detail, retryAfterSeconds, refusal } = problem;
  const [status, title] = PROBLEM_TITLES[kind];
  reply.resultCode = kind;
  if (retryAfterSeconds !== undefined) void reply.header(HEADERS.retryAfter, String(retryAfterSeconds));
  const text = JSON.stringify({
    type: `urn:perennial:problem:${kind}`,
    title,
    status,
    code: refusal?.code ?? kind,
    values: refusal?.values ?? [],
    detail,
    retryAfterSeconds,
    requestId: reply.request.id,
  });
  void reply.code(status).header('content-type', 'application/problem+json; charset=utf-8');
  if (kind !== 'too-slow') return reply.send(text);
  return answerAndHalfClose(reply.header('connection', 'close'), text, HTTP_LIMITS.halfCloseTimeout);
}

export function sendJson(reply: FastifyReply, answer: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer));
}
