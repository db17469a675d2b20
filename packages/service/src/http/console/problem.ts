import { HEADERS, Rejection } from '@perennial/wire';
import type { FastifyReply } from 'fastify';
import { CodeNeeded, Locked, WrongProof } from '../../console/sessions/sign-in.js';
import { NotFoundError, OperatorError } from '../../operator/operator.js';
import { NotAllowedError } from '../../operator/people/not-allowed.js';
import { TooManySignIns } from '../../operator/people/passwords.js';
import { Unavailable } from '../../platform/db/database.js';
import { PlainError } from '../../platform/plain-error.js';
import { RateLimited } from '../answers/minute-limit.js';
import { toRefusal } from '../answers/respond.js';

const TITLES = {
  'not-signed-in': [401, 'Sign in first'],
  'wrong-proof': [401, 'Name, password or code are wrong'],
  'code-needed': [401, 'A code of your authenticator app is needed'],
  csrf: [403, 'The request does not carry the token of this session'],
  'not-allowed': [403, 'Your role may not do this'],
  'proof-needed': [403, 'Prove again who you are'],
  'not-found': [404, 'There is no such thing'],
  'not-possible': [409, 'This cannot be done'],
  invalid: [400, 'The request is not valid'],
  'too-large': [413, 'The request is too large'],
  locked: [429, 'Too many wrong tries'],
  busy: [503, 'Try again in a moment'],
  fault: [500, 'Something went wrong on our side'],
} as const satisfies Record<string, readonly [number, string]>;
export type ProblemKind = keyof typeof TITLES;

/** A refusal of the console's own. */
export class Problem extends Error {
  constructor(
    readonly kind: ProblemKind,
    readonly detail?: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(detail ?? kind);
  }
}

/** The one place where an error becomes a problem. `isFault`: it has to be logged, and its text stays here. */
export function toProblem(error: unknown): { readonly problem: Problem; readonly isFault: boolean } {
  const told = (kind: ProblemKind, detail?: string, seconds?: number) => ({
    problem: new Problem(kind, detail, seconds),
    isFault: false,
  });
  if (error instanceof Problem) return { problem: error, isFault: false };
  if (error instanceof Locked) return told('locked', error.message, error.seconds);
  if (error instanceof CodeNeeded) return told('code-needed');
  if (error instanceof WrongProof) return told('wrong-proof');
  if (error instanceof TooManySignIns) return told('busy', error.message, 2);
  if (error instanceof NotAllowedError) return told('not-allowed', error.message);
  if (error instanceof NotFoundError) return told('not-found', error.message);
  if (error instanceof OperatorError || (error instanceof PlainError && !(error instanceof Unavailable))) {
    return told('not-possible', error.message);
  }
  if (error instanceof RateLimited) return told('locked', error.message, error.retryAfterSeconds);
  if (error instanceof Rejection) return told('invalid', error.message);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return told('too-large');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return told('invalid', 'send application/json');
  if (error instanceof Unavailable) {
    return { problem: new Problem('busy', undefined, 1), isFault: toRefusal(error).isFault };
  }
  return { problem: new Problem('fault'), isFault: true };
}

export function sendProblem(reply: FastifyReply, { kind, detail, retryAfterSeconds }: Problem): FastifyReply {
  const [status, title] = TITLES[kind];
  reply.resultCode = kind;
  if (retryAfterSeconds !== undefined) void reply.header(HEADERS.retryAfter, String(retryAfterSeconds));
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(
      JSON.stringify({
        type: `urn:perennial:problem:${kind}`,
        title,
        status,
        ...(detail === undefined ? {} : { detail }),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
        requestId: reply.request.id,
      }),
    );
}
