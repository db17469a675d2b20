import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { envelopeText, formatTime, HEADER_KEYS, MAX_BODY_BYTES, Rejection } from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import { findTracing } from '../tracing.js';
import { answerPlaces } from './answer-places.js';
import { malformedHttpHandler } from './client-error.js';
import { hasEnded, whenEnded } from './ended.js';
import { answerThenLinger } from './linger.js';
import { answerSender } from './long-answers.js';
import type { ServiceMetrics } from './metrics.js';
import { type NoticeDeps, noticeRoutes } from './notices.js';
import { operationsRoutes } from './operations.js';
import { type PipelineDeps, pipeline } from './pipeline.js';
import { bodyReader } from './read-body.js';
import { type RedeemDeps, redeemRoutes } from './redeem.js';
import { traceRequests } from './request-spans.js';
import { bodyTooLarge, Draining, JSON_TYPE, type Refusal, refusalOf } from './respond.js';
import type { Route } from './routes.js';
import { usableRequestId } from './signed-headers.js';
import { undeclaredProxyWarning } from './undeclared-proxies.js';
import { closeUnread } from './unread.js';

export interface AppDeps extends Omit<PipelineDeps, 'places' | 'answers'> {
  readonly routes: readonly Route[];
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly notices: NoticeDeps;
  readonly redeem: RedeemDeps;
  readonly log: Logger;
  readonly trustedProxies: readonly string[];
  readonly httpLimits?: Partial<HttpLimits>;
}

export interface App {
  readonly server: FastifyInstance;
  /** Refuses new requests with 503001, lets the running ones finish, then closes. */
  drain(): Promise<void>;
}

/** Slow or silent clients hold a socket, never more: headers in 10 s, the whole request in 30 s, 75 s between two. */
const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  /** How often the first two are looked after; Node's own 30 s would let them be three times as long. */
  connectionsCheckingInterval: 1_000,
  /** How long a client that is refused in the middle of sending may go on, so that it gets to read why. */
  lingerTime: 5_000,
  maxHeaderSize: 16_384,
  /** How long a caller may take in nothing of its answer. */
  writeTimeout: 30_000,
  /** How long a long answer may take in all. */
  answerTimeout: 300_000,
  /** How long a node that is stopping waits for long answers. */
  drainTime: 10_000,
  longAnswers: 64,
  longAnswersPerChannel: 16,
  longAnswersWaiting: 256,
  longAnswersWaitingPerChannel: 64,
  longAnswerWait: 5_000,
};
export type HttpLimits = Readonly<typeof HTTP_LIMITS>;

export function createApp(deps: AppDeps): App {
  const { routes, clock, metrics, log, failures } = deps;
  const limits = { ...HTTP_LIMITS, ...deps.httpLimits };
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, maxHeaderSize, lingerTime } = limits;
  let draining = false;
  const places = answerPlaces(limits);
  metrics.watchLongAnswers(places.counts);
  const unread = closeUnread(limits.writeTimeout);
  const answers = answerSender({ ...limits, clock, log, isDraining: () => draining });
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    // Nothing here depends on Host, and Node's own answer to a request without one has no envelope.
    http: {
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval,
      maxHeaderSize,
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    // Fastify's own answers have no envelope: this app says 503001 itself.
    return503OnClosing: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    genReqId: (request) => usableRequestId(request.headers[HEADER_KEYS.requestId]) ?? randomUUID(),
    clientErrorHandler: malformedHttpHandler(clock, lingerTime),
    // A path that cannot be decoded is none of ours.
    frameworkErrors: (_error, _request, reply) => refuse(reply, refusalOf(new Rejection('PATH_NOT_FOUND'))),
    routerOptions: { maxParamLength: 100 },
  });

  // Bodies stay bytes: the signature is over them, and nothing is parsed before it holds.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', bodyReader(deps.bodies));

  // Node would ask for any body, and answer an expectation that it does not know without an envelope.
  app.server.on('checkContinue', (request, response) => {
    if (!isTooLarge(request)) response.writeContinue();
    app.server.emit('request', request, response);
  });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  function refuse(reply: FastifyReply, { result, http = result.http, message, headers }: Refusal): FastifyReply {
    reply.resultCode = result.code;
    const text = envelopeText(result, message, 'null', reply.request.id, formatTime(clock.now()));
    void reply.code(http).headers(headers).header('content-type', JSON_TYPE);
    return reply.getHeader('connection') === 'close' ? answerThenLinger(reply, text, lingerTime) : reply.send(text);
  }

  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    const where = { requestId: request.id, path: request.routeOptions.url };
    if (request.raw.destroyed && !request.raw.complete) log.info(where, 'the client hung up');
    else if (refusal.isFault) log.error({ err: error, ...where }, 'fault');
    // Tokens are looked at once the signature holds: who sends an old one is no stranger.
    if (refusal.result.http === 401 && !refusal.result.name.startsWith('TOKEN_')) failures.failed(request);
    return refuse(reply, refusal);
  });

  const notFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ''] = (request.raw.url ?? '').split('?');
    const known = routes.some((route) => route.endpoint.path === path);
    if (known) void reply.header('allow', 'POST');
    return refuse(reply, refusalOf(new Rejection(known ? 'METHOD_NOT_ALLOWED' : 'PATH_NOT_FOUND')));
  };
  app.setNotFoundHandler(notFound);
  const tracing = findTracing();
  if (tracing) traceRequests(app, tracing);
  const warnOfUndeclaredProxy = undeclaredProxyWarning(deps.trustedProxies, log);
  app.decorateRequest('startedAt', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedAt = performance.now();
    warnOfUndeclaredProxy(request);
    done();
  });
  // Before the body is read: whatever is wrong with that does not matter here.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? notFound(request, reply) : undefined));

  /** Once it is known what came of an answer: it has gone out, or its connection has ended before. */
  function note(request: FastifyRequest, reply: FastifyReply): void {
    unread.forget(reply);
    const endpoint = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const code = reply.resultCode ?? '';
    const cut = reply.raw.writableFinished ? undefined : (reply.cut ?? 'hung-up');
    const elapsedMs = performance.now() - request.startedAt;
    metrics.observeRequest(endpoint, reply.statusCode, code, elapsedMs);
    if (cut) metrics.observeCut(cut);
    if (endpoint.startsWith('/openapi/')) {
      const appId = String(request.headers[HEADER_KEYS.appId] ?? '').slice(0, 64);
      const ms = Math.round(elapsedMs * 10) / 10;
      log.info({ requestId: request.id, appId, endpoint, status: reply.statusCode, code, ms, cut }, 'request');
    }
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    // A connection kept alive would keep a draining node alive with it.
    if (draining) void reply.header('connection', 'close');
    if (!hasEnded(reply)) {
      unread.watch(reply);
      whenEnded(reply, () => note(request, reply));
    } else if (request.raw.complete) {
      // What never came whole was no request.
      note(request, reply);
    }
    done(null, payload);
  });

  for (const route of routes) {
    const { open, serve } = pipeline(route, { ...deps, places, answers });
    app.route({
      method: 'POST',
      url: route.endpoint.path,
      onRequest: async (request, reply) => {
        if (draining) throw new Draining();
        await open(request);
        return isTooLarge(request.raw) ? refuse(reply, bodyTooLarge()) : undefined;
      },
      handler: serve,
    });
  }
  noticeRoutes(app, deps.notices, { log, bodies: deps.bodies, refuse });
  redeemRoutes(app, deps.redeem, { isDraining: () => draining, lingerMs: lingerTime });
  operationsRoutes(app, { ...deps, isDraining: () => draining });

  return {
    server: app,
    async drain() {
      draining = true;
      const timer = setTimeout(answers.cutAll, limits.drainTime);
      await app.close();
      clearTimeout(timer);
      unread.stop();
    },
  };
}

/** By what it says of itself; a body that does not say is measured while it is read. */
function isTooLarge({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES;
}
