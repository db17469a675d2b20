import { envelopeText, formatTime, HEADERS, Rejection } from '@perennial/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import { JSON_TYPE, type Refusal, toRefusal } from './answers/respond.js';
import { addWarnings } from './answers/warnings.js';
import type { AuthenticationFailures } from './limits/authentication-failures.js';
import type { RefusalExplainer } from './requests/explain-refusal.js';
import { answerAndHalfClose } from './requests/half-close.js';
import { explainMissedPath } from './requests/missed-path.js';

export interface RefusalDeps {
  readonly refuse: Refuse;
  readonly log: Logger;
  readonly failures: AuthenticationFailures;
  /** Sandbox only. */
  readonly explainer?: RefusalExplainer | undefined;
  readonly paths: ReadonlySet<string>;
}

export type Refuse = (reply: FastifyReply, refusal: Refusal) => FastifyReply;
export type NotFound = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function createRefuse(clock: Clock, halfCloseMs: number): Refuse {
  return (reply, { result, http = result.http, message, mistakes, headers, why }) => {
    reply.resultCode = result.code;
    reply.refusalMessage = message;
    if (why !== undefined) reply.why = why;
    if (mistakes) {
      reply.diagnosedMistakes = mistakes;
      void reply.header(HEADERS.diagnosis, mistakes.join(', '));
    }
    const text = envelopeText(result, addWarnings(reply, message), 'null', reply.request.id, formatTime(clock.now()));
    void reply.code(http).headers(headers).header('content-type', JSON_TYPE);
    return reply.getHeader('connection') === 'close' ? answerAndHalfClose(reply, text, halfCloseMs) : reply.send(text);
  };
}

/** Answers errors and unknown paths with refusals. Returns the handler of unknown paths. */
export function addRefusals(app: FastifyInstance, { refuse, log, failures, explainer, paths }: RefusalDeps): NotFound {
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = toRefusal(error);
    const where = { requestId: request.id, path: request.routeOptions.url };
    if (request.raw.destroyed && !request.raw.complete) log.info(where, 'the client hung up');
    else if (refusal.isFault) log.error({ err: error, ...where }, 'fault');
    // Counted before the answer, so that this failure already counts when the client's next request is checked.
    if (refusal.result.isByStranger) await failures.countFailure(request);
    return refuse(reply, explainer ? await explainOrLeave(explainer, request, refusal) : refusal);
  });

  /** Explains a refusal. Returns it unexplained, as in production, if explaining fails. */
  async function explainOrLeave(explainer: RefusalExplainer, request: FastifyRequest, refusal: Refusal) {
    try {
      return await explainer.explain(request, refusal);
    } catch (err) {
      log.warn({ err, requestId: request.id, cause: 'diagnosis' }, 'could not explain a refusal');
      return refusal;
    }
  }

  const notFound: NotFound = (request, reply) => {
    const [path = ''] = (request.raw.url ?? '').split('?');
    if (paths.has(path)) {
      return refuse(reply.header('allow', 'POST'), toRefusal(new Rejection('METHOD_NOT_ALLOWED')));
    }
    const hint = explainer && explainMissedPath(path, paths);
    if (hint !== undefined) request.warnings = [hint];
    return refuse(reply, toRefusal(new Rejection('PATH_NOT_FOUND')));
  };
  app.setNotFoundHandler(notFound);
  return notFound;
}
