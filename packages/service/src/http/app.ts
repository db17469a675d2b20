import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import {
  CODES,
  ENDPOINTS,
  envelopeText,
  formatTime,
  HEADER_KEYS,
  HEADERS,
  MAX_BODY_BYTES,
  Rejection,
} from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import { findTracing } from '../platform/tracing.js';
import { isAnswerEnded, onAnswerEnd } from './answers/answer-end.js';
import {
  createBodyTooLargeRefusal,
  JSON_TYPE,
  NodeDraining,
  NodeReadsOnly,
  type Refusal,
  toRefusal,
} from './answers/respond.js';
import { createUnreadCloser } from './answers/unread-closer.js';
import {
  addConsoleRoutes,
  type ConsoleDeps,
  type ConsoleRouteContext,
  readableConsoleUrl,
} from './console/console-routes.js';
import { addDevelopersRoutes, type DevelopersDeps } from './developers/developers-routes.js';
import { createAnswerPlaces } from './limits/answer-places.js';
import { createConnectionBound } from './limits/connections.js';
import { createSilentConnections } from './limits/silent-connections.js';
import { createUndeclaredProxyWarning } from './limits/undeclared-proxies.js';
import { createAnswerSender } from './long-answers/long-answers.js';
import type { ServiceMetrics } from './metrics.js';
import { addMonitoringRoutes, addReadinessRoute, createMonitoringApp } from './monitoring.js';
import { addNoticeRoutes, type NoticeRouteDeps } from './notices.js';
import { addRedeemRoutes, type RedeemDeps } from './pages/redeem-routes.js';
import { addSellerRoutes } from './pages/seller-routes.js';
import { createPipeline, type PipelineDeps } from './pipeline.js';
import { createEarlyRefusal } from './refuse-early.js';
import type { RequestLog } from './request-log.js';
import { traceRequests } from './request-spans.js';
import type { RefusalExplainer } from './requests/explain-refusal.js';
import { answerThenLinger } from './requests/linger.js';
import { createMalformedHttpHandler } from './requests/malformed-http.js';
import { createMissedPath } from './requests/missed-path.js';
import { limitPipelinedRequests } from './requests/pipelined-requests.js';
import { createBodyReader } from './requests/read-body.js';
import { readRequestId } from './requests/signed-headers.js';
import type { Route } from './routes.js';

/** What an app id looks like. Whatever else a caller claims to be is no channel. */
const APP_ID = /^[a-z0-9_]{3,64}$/;

/** As nginx counts requests whose client hung up. */
const CLIENT_CLOSED_REQUEST = 499;

export interface AppDeps extends Omit<PipelineDeps, 'places' | 'answers'> {
  readonly routes: readonly Route[];
  readonly database: Database;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly metrics: ServiceMetrics;
  readonly notices: NoticeRouteDeps;
  readonly redeem: RedeemDeps;
  readonly developers: DevelopersDeps;
  /** Unset: this node has no console. */
  readonly console?: ConsoleDeps | undefined;
  /** It is on a listener of its own. */
  readonly isConsoleApart?: boolean;
  readonly log: Logger;
  /** Undefined: calls are not written down. */
  readonly requestLog?: RequestLog | undefined;
  readonly trustedProxies: readonly string[];
  /** Whether what would change anything is refused. */
  readonly readsOnly: boolean;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly metricsToken?: string | undefined;
  /** /metrics and /healthz are not on the interface's listener but on one of their own. */
  readonly isMonitoredApart?: boolean;
}

export interface App {
  readonly server: FastifyInstance;
  /** /metrics, /healthz and /readyz, if they are on a listener of their own. */
  readonly operations: FastifyInstance | undefined;
  /** The console, if it is on a listener of its own. */
  readonly consoleServer: FastifyInstance | undefined;
  /**
   * /readyz answers 503 from now on, so that load balancers send their requests elsewhere. Those that come all the same are
   * served, and their connections end with the answer.
   */
  announceStop(): void;
  /** Refuses new requests with 503001, lets the running ones finish, then closes. */
  drain(): Promise<void>;
}

/** Slow or silent clients hold a socket, never more: headers in 10 s, the whole request in 30 s, 75 s between two. */
const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  /** How often the first two are checked; Node's own 30 s would let them be three times as long. */
  connectionsCheckingInterval: 1_000,
  /** How long a client that is refused while it sends may go on sending, so that it reads the refusal. */
  lingerTime: 5_000,
  maxHeaderSize: 16_384,
  /** How long a client may read nothing of its answer. */
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
  crowdedKeepAliveTimeout: 5_000,
  connections: 2_000,
  connectionsInAll: 4_000,
};
export type HttpLimits = Readonly<typeof HTTP_LIMITS>;

export function createApp(deps: AppDeps): App {
  const { routes, clock, metrics, log, failures, readsOnly } = deps;
  const limits = { ...HTTP_LIMITS, ...deps.httpLimits };
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, maxHeaderSize, lingerTime } = limits;
  let isLeaving = false;
  let isDrainingNow = false;
  const places = createAnswerPlaces(limits);
  metrics.watchLongAnswers(places.counts);
  metrics.watchLoad(deps.load.counts);
  const unread = createUnreadCloser(limits.writeTimeout);
  const silent = createSilentConnections();
  const isDraining = () => isDrainingNow;
  const answers = createAnswerSender({ ...limits, clock, log, isDraining });
  const paths = new Set<string>(routes.map(({ endpoint }) => endpoint.path));
  const bound = createConnectionBound(limits, metrics.countDropped);
  metrics.watchConnections(bound.counts);
  const { isSpare } = bound;
  const earlyRefusal = createEarlyRefusal({ ...deps, paths, isDraining, isSpare, lingerMs: lingerTime });
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handler) => {
      const server = http.createServer(
        {
          headersTimeout,
          requestTimeout,
          connectionsCheckingInterval,
          maxHeaderSize,
          keepAliveTimeout: limits.keepAliveTimeout,
          // Nothing here depends on Host, and Node's own answer to a request without one has no envelope.
          requireHostHeader: false,
        },
        limitPipelinedRequests(earlyRefusal.wrap(handler)),
      );
      unread.watch(server);
      bound.watch(server);
      silent.watch(server);
      // All headers that fit into maxHeaderSize: Node would silently drop those beyond 2,000.
      server.maxHeadersCount = 0;
      return server;
    },
    forceCloseConnections: 'idle',
    // Fastify's own answers have no envelope: this app says 503001 itself.
    return503OnClosing: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    genReqId: (request) => readRequestId(request.headers[HEADER_KEYS.requestId]) ?? randomUUID(),
    clientErrorHandler: createMalformedHttpHandler(clock, lingerTime),
    // A path that cannot be decoded is not one of this service.
    frameworkErrors: (_error, _request, reply) => refuse(reply, toRefusal(new Rejection('PATH_NOT_FOUND'))),
    rewriteUrl: ({ url = '' }) => readableConsoleUrl(url),
    routerOptions: { maxParamLength: 100 },
  });

  // Bodies stay bytes: the signature is over them, and nothing is parsed before it holds. JSON is named because fastify
  // caches the parser of a known type, and parses the header again for any other.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', '*'], createBodyReader(deps.bodies));

  // Node would ask for a body of any size, and refuse an unknown expectation without an envelope.
  app.server.on('checkContinue', (request, response) => {
    if (!declaresTooLargeBody(request)) response.writeContinue();
    app.server.emit('request', request, response);
  });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
    const { result, http = result.http, message, mistakes, headers, why } = refusal;
    reply.resultCode = result.code;
    reply.refusalMessage = message;
    if (why !== undefined) reply.why = why;
    if (mistakes) {
      reply.diagnosedMistakes = mistakes;
      void reply.header(HEADERS.diagnosis, mistakes.join(', '));
    }
    const text = envelopeText(result, message, 'null', reply.request.id, formatTime(clock.now()));
    void reply.code(http).headers(headers).header('content-type', JSON_TYPE);
    return reply.getHeader('connection') === 'close' ? answerThenLinger(reply, text, lingerTime) : reply.send(text);
  }

  app.setErrorHandler(async (error, request, reply) => {
    const refusal = toRefusal(error);
    const where = { requestId: request.id, path: request.routeOptions.url };
    if (request.raw.destroyed && !request.raw.complete) log.info(where, 'the client hung up');
    else if (refusal.isFault) log.error({ err: error, ...where }, 'fault');
    // Counted before it is answered, so that the next request is checked against a complete count.
    if (refusal.result.isByStranger) await failures.countFailure(request);
    return refuse(reply, deps.explainer ? await explainOrLeave(deps.explainer, request, refusal) : refusal);
  });

  /** What is told beyond the code is a help: without it the answer is as right as in production. */
  async function explainOrLeave(explainer: RefusalExplainer, request: FastifyRequest, refusal: Refusal) {
    try {
      return await explainer.explain(request, refusal);
    } catch (err) {
      log.warn({ err, requestId: request.id, cause: 'diagnosis' }, 'a refusal could not be explained');
      return refusal;
    }
  }

  const notFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ''] = (request.raw.url ?? '').split('?');
    if (paths.has(path)) {
      return refuse(reply.header('allow', 'POST'), toRefusal(new Rejection('METHOD_NOT_ALLOWED')));
    }
    return refuse(reply, toRefusal(deps.explainer ? createMissedPath(path, paths) : new Rejection('PATH_NOT_FOUND')));
  };
  app.setNotFoundHandler(notFound);
  const tracing = findTracing();
  if (tracing) traceRequests(app, tracing);
  const warnOfUndeclaredProxy = createUndeclaredProxyWarning(deps.trustedProxies, log);
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('signedHeaders', null);
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    warnOfUndeclaredProxy(request);
    // Before the body is read: on an unknown path an error in the body does not matter.
    if (request.is404) afterMalformedCheck(() => notFound(request, reply));
    else done();
  });

  const cutReason = ({ cut, request }: FastifyReply) =>
    cut ?? (unread.hasCut(request.raw.socket) ? 'unread' : 'hung-up');

  /** Records a request in the metrics and in the log, when its answer was sent or its connection has ended. */
  function recordAnswer(request: FastifyRequest, reply: FastifyReply): void {
    const endpoint = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const code = reply.resultCode ?? '';
    const cut = reply.raw.writableFinished ? undefined : cutReason(reply);
    const elapsedMs = performance.now() - request.startedAt;
    // A client that has hung up got no code.
    const got = cut === 'hung-up' ? { status: CLIENT_CLOSED_REQUEST, code: '' } : { status: reply.statusCode, code };
    metrics.observeRequest(endpoint, got.status, got.code, elapsedMs);
    if (cut) metrics.observeCut(cut);
    const isCall = endpoint.startsWith('/openapi/');
    // Notices have no line, unless this node could not take one.
    if (isCall || (reply.why !== undefined && endpoint.startsWith('/gateway/'))) {
      const appId = String(request.headers[HEADER_KEYS.appId] ?? '').slice(0, 64);
      const ms = Math.round(elapsedMs * 10) / 10;
      const diagnosis = reply.diagnosedMistakes?.join(' ');
      const { statusCode: status, why } = reply;
      log.info({ requestId: request.id, appId, endpoint, status, code, why, ms, cut, diagnosis }, 'request');
      if (isCall && APP_ID.test(appId) && !isPoll(endpoint, got.code)) {
        deps.requestLog?.add({
          at: clock.now(),
          appId,
          endpoint,
          code: got.code,
          httpStatus: got.status,
          durationMs: Math.round(elapsedMs),
          requestId: request.id,
          reason: reply.refusalMessage ?? null,
          address: request.ip ?? '',
        });
      }
    }
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    // A connection kept alive would keep a draining node alive with it. Ended by an answer, none is cut while a request
    // is on its way.
    if (isLeaving) void reply.header('connection', 'close');
    if (!isAnswerEnded(reply)) onAnswerEnd(reply, () => recordAnswer(request, reply));
    // A request that never arrived completely is not counted.
    else if (request.raw.complete) recordAnswer(request, reply);
    done(null, payload);
  });

  for (const route of routes) {
    metrics.expectFaults(route.endpoint.path);
    const { open, serve } = createPipeline(route, { ...deps, places, answers });
    app.route({
      method: 'POST',
      url: route.endpoint.path,
      onRequest(request, reply, done) {
        if (isDrainingNow) throw new NodeDraining();
        if (readsOnly && route.endpoint.write) throw new NodeReadsOnly();
        const goOn = () =>
          declaresTooLargeBody(request.raw) ? void refuse(reply, createBodyTooLargeRefusal()) : done();
        let opened: Promise<void> | undefined;
        try {
          opened = open(request);
        } catch (error) {
          return afterMalformedCheck(() => done(error as Error));
        }
        return opened ? void opened.then(goOn, done) : goOn();
      },
      handler: serve,
    });
  }
  addNoticeRoutes(app, deps.notices, { log, bodies: deps.bodies, refuse, readsOnly });
  addRedeemRoutes(app, deps.redeem, { isDraining, load: deps.load, lingerMs: lingerTime, readsOnly });
  addSellerRoutes(app, deps.redeem, isDraining);
  const consoleContext = { isDraining, readsOnly };
  const consoleServer = deps.console && deps.isConsoleApart ? createConsoleApp(deps, consoleContext) : undefined;
  if (consoleServer) silent.watch(consoleServer.server);
  if (deps.console && !consoleServer) addConsoleRoutes(app, deps.console, consoleContext);
  const hasConsole = deps.console !== undefined && !consoleServer;
  const findRefused = deps.explainer?.refused.find;
  addDevelopersRoutes(app, deps.developers, { isDraining, hasConsole, notFound, findRefused });
  const operationsDeps = { ...deps, isLeaving: () => isLeaving };
  const operations = deps.isMonitoredApart ? createMonitoringApp(operationsDeps) : undefined;
  addReadinessRoute(app, operationsDeps);
  if (!operations) addMonitoringRoutes(app, operationsDeps);

  function announceStop(): void {
    isLeaving = true;
  }

  return {
    server: app,
    operations,
    consoleServer,
    announceStop,
    async drain() {
      announceStop();
      isDrainingNow = true;
      silent.close();
      const timer = setTimeout(answers.cutAll, limits.drainTime);
      const end = setTimeout(() => {
        for (const one of [app, consoleServer]) one?.server.closeAllConnections();
      }, 2 * limits.drainTime);
      await Promise.all([app.close(), consoleServer?.close()]);
      clearTimeout(timer);
      clearTimeout(end);
      unread.stop();
      earlyRefusal.stop();
      await operations?.close();
    },
  };
}

/** Asked every second by a developer's machine: told one by one, they would bury what the channel has called otherwise. */
const isPoll = (endpoint: string, code: string): boolean =>
  endpoint === ENDPOINTS['sandbox/events/pull'].path && code === CODES.SUCCESS.code;

/** Slow clients are the business of the proxy before it: only its operators reach it. */
function createConsoleApp({ console, trustedProxies }: AppDeps, context: ConsoleRouteContext): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: (request) => readRequestId(request.headers[HEADER_KEYS.requestId]) ?? randomUUID(),
    rewriteUrl: ({ url = '' }) => readableConsoleUrl(url),
  });
  if (console) addConsoleRoutes(app, console, context);
  return app;
}

/**
 * What arrived with the headers may not be HTTP at all. Node reports that after this turn of the event loop, and then that is
 * the answer.
 */
function afterMalformedCheck(answer: () => unknown): void {
  queueMicrotask(() => void answer());
}

/** By Content-Length; a body without one is measured while it is read. */
function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES;
}
