import fastify, { type FastifyInstance } from 'fastify';
import type { Database } from '../platform/db/database.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import { findTracing } from '../platform/tracing.js';
import { isAnswerEnded, onAnswerEnd } from './answers/answer-end.js';
import { createBodyTooLargeRefusal, NodeClockWrong, NodeDraining, NodeReadsOnly } from './answers/respond.js';
import type { ConsoleDeps, ConsoleRouteContext } from './console/console-deps.js';
import { addConsoleRoutes, readableConsoleUrl } from './console/console-routes.js';
import { addDevelopersRoutes, type DevelopersDeps } from './developers/developers-routes.js';
import { createAnswerPlaces } from './limits/answer-places.js';
import { HTTP_LIMITS, type HttpLimits } from './limits/http-limits.js';
import { createUndeclaredProxyWarning } from './limits/undeclared-proxies.js';
import { createListener, declaresTooLargeBody, toTrustProxy } from './listener.js';
import { createAnswerSender } from './long-answers/long-answers.js';
import { addMonitoringRoutes, addReadinessRoute, createMonitoringApp } from './monitoring.js';
import { addNoticeRoutes, type NoticeRouteDeps } from './notices.js';
import type { RedeemDeps } from './pages/redeem-context.js';
import { addRedeemRoutes } from './pages/redeem-routes.js';
import { addSellerRoutes } from './pages/seller-routes.js';
import { createPipeline, type PipelineDeps } from './pipeline.js';
import { createRecorder, type RecordDeps } from './record-request.js';
import { addRefusals, createRefuse, type NotFound, type Refuse } from './refusals.js';
import { traceRequests } from './request-spans.js';
import { requestIdOf } from './requests/signed-headers.js';
import type { Route } from './routes.js';

export interface AppDeps extends Omit<PipelineDeps, 'places' | 'answers'>, RecordDeps {
  readonly routes: readonly Route[];
  /** True if this node refuses requests that change anything. */
  readonly readsOnly: boolean;
  readonly database: Database;
  readonly clockWatch: ClockWatch;
  readonly notices: NoticeRouteDeps;
  readonly redeem: RedeemDeps;
  readonly developers: DevelopersDeps;
  readonly console?: ConsoleDeps | undefined;
  readonly isConsoleApart?: boolean;
  readonly trustedProxies: readonly string[];
  readonly httpLimits?: Partial<HttpLimits> | undefined;
  readonly metricsToken?: string | undefined;
  /** True if /metrics and /healthz are on a separate listener. */
  readonly isMonitoredApart?: boolean;
}

interface Stopping {
  isLeaving: boolean;
  isDraining: boolean;
}

/**
 * Composes the servers of a node: the listener, the checks before each request, the recording of each request, and all
 * routes.
 */
export function createApp(deps: AppDeps) {
  const { clock, metrics, log, load, readsOnly } = deps;
  const isClockWrong = deps.clockWatch.isWrong;
  const limits = { ...HTTP_LIMITS, ...deps.httpLimits };
  const { halfCloseTimeout: halfCloseMs, drainTime } = limits;
  const stopping: Stopping = { isLeaving: false, isDraining: false };
  const isDraining = () => stopping.isDraining;
  const places = createAnswerPlaces(limits);
  metrics.watchLongAnswers(places.counts);
  metrics.watchLoad(load.counts);
  const answers = createAnswerSender({ ...limits, clock, log, isDraining });
  const paths = new Set<string>(deps.routes.map(({ endpoint }) => endpoint.path));
  const refuse = createRefuse(clock, halfCloseMs);
  const { app, unread, silent, earlyRefusal } = createListener({ ...deps, limits, paths, refuse, isDraining });
  const notFound = addRefusals(app, { ...deps, refuse, paths });
  const tracing = findTracing();
  if (tracing) traceRequests(app, tracing);
  checkFirst(app, deps, notFound);
  recordLast(app, createRecorder(deps, unread.hasCut), stopping);
  for (const route of deps.routes) {
    metrics.expectFaults(route.endpoint.path);
    addEndpoint(app, route, { ...deps, places, answers, refuse, stopping });
  }
  void app.register(async (scope) => addNoticeRoutes(scope, deps.notices, { log, refuse, readsOnly, isClockWrong }));
  addRedeemRoutes(app, deps.redeem, { isDraining, load, halfCloseMs, readsOnly, isClockWrong });
  addSellerRoutes(app, deps.redeem, isDraining);
  const consoleServer = addConsole(app, deps, { isDraining, readsOnly });
  if (consoleServer) silent.watch(consoleServer.server);
  const hasConsole = deps.console !== undefined && !consoleServer;
  const findRefused = deps.explainer?.refused.find;
  addDevelopersRoutes(app, deps.developers, { isDraining, hasConsole, notFound, findRefused });
  const operations = addOperations(app, deps, stopping);

  /**
   * Makes /readyz answer 503, so that load balancers send requests to other nodes. Requests that still arrive are
   * served, and each answer closes its connection.
   */
  function announceStop(): void {
    stopping.isLeaving = true;
  }

  return {
    server: app,
    /** The server of /metrics, /healthz and /readyz, if they are on a separate listener. */
    operations,
    /** The server of the console, if it is on a separate listener. */
    consoleServer,
    announceStop,
    /** Refuses new requests with 503001, lets requests in flight finish within a time limit, then closes. */
    async drain(): Promise<void> {
      announceStop();
      stopping.isDraining = true;
      silent.close();
      const timer = setTimeout(answers.cutAll, drainTime);
      const end = setTimeout(() => {
        for (const one of [app, consoleServer]) one?.server.closeAllConnections();
      }, 2 * drainTime);
      await Promise.all([app.close(), consoleServer?.close()]);
      clearTimeout(timer);
      clearTimeout(end);
      unread.stop();
      earlyRefusal.stop();
      await operations?.close();
    },
  };
}

export type App = ReturnType<typeof createApp>;

/** Stores the start time of each request, warns of undeclared proxies, and answers requests to unknown paths. */
function checkFirst(app: FastifyInstance, { trustedProxies, log }: AppDeps, notFound: NotFound): void {
  const warnOfUndeclaredProxy = createUndeclaredProxyWarning(trustedProxies, log);
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('signedHeaders', null);
  app.decorateRequest('isAdmitted', false);
  app.decorateRequest('warnings', null);
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    warnOfUndeclaredProxy(request);
    // Answers an unknown path before the body is read, because errors in its body do not matter.
    if (request.is404) afterMalformedCheck(() => notFound(request, reply));
    else done();
  });
}

/** Records each request after its answer. On a stopping node, makes each answer close its connection. */
function recordLast(app: FastifyInstance, record: ReturnType<typeof createRecorder>, stopping: Stopping): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // A kept-alive connection would keep a draining node alive. Closing it together with an answer interrupts no
    // request.
    if (stopping.isLeaving) void reply.header('connection', 'close');
    if (!isAnswerEnded(reply)) onAnswerEnd(reply, () => record(request, reply));
    // The client is gone. A request that had not arrived completely is not recorded.
    else if (request.raw.complete) record(request, reply);
    done(null, payload);
  });
}

interface EndpointDeps extends PipelineDeps {
  readonly clockWatch: ClockWatch;
  readonly readsOnly: boolean;
  readonly refuse: Refuse;
  readonly stopping: Stopping;
}

/** Adds an endpoint of the API. Headers are checked before the body is read. */
function addEndpoint(app: FastifyInstance, route: Route, deps: EndpointDeps): void {
  const { readsOnly, clockWatch, refuse, stopping } = deps;
  const { open, serve } = createPipeline(route, deps);
  app.route({
    method: 'POST',
    url: route.endpoint.path,
    onRequest(request, reply, done) {
      if (stopping.isDraining) throw new NodeDraining();
      // Another node can check the timestamp. 401003 would tell the caller that its own clock is wrong.
      if (clockWatch.isWrong()) throw new NodeClockWrong();
      if (readsOnly && route.endpoint.write) throw new NodeReadsOnly();
      const goOn = () => (declaresTooLargeBody(request.raw) ? void refuse(reply, createBodyTooLargeRefusal()) : done());
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

/**
 * Answers after Node has checked the bytes that came with the headers. If they are not HTTP, Node's error comes first.
 */
function afterMalformedCheck(answer: () => unknown): void {
  queueMicrotask(() => void answer());
}

/** Adds the console. Returns its server if the console is on a separate listener. */
function addConsole(
  app: FastifyInstance,
  { console, isConsoleApart, trustedProxies }: AppDeps,
  context: ConsoleRouteContext,
): FastifyInstance | undefined {
  if (!console) return undefined;
  if (!isConsoleApart) {
    addConsoleRoutes(app, console, context);
    return undefined;
  }
  // This server has fewer limits for slow clients, because only operators should reach its listener. A file of codes of
  // 25 MB takes 500 s at 50 KB/s.
  const apart = fastify({
    logger: false,
    requestTimeout: 600_000,
    forceCloseConnections: 'idle',
    trustProxy: toTrustProxy(trustedProxies),
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '' }) => readableConsoleUrl(url),
  });
  addConsoleRoutes(apart, console, context);
  return apart;
}

/**
 * Adds /metrics, /healthz and /readyz. If they are on a separate listener, returns its server. The API has /readyz too.
 */
function addOperations(app: FastifyInstance, deps: AppDeps, stopping: Stopping): FastifyInstance | undefined {
  const operationsDeps = { ...deps, isLeaving: () => stopping.isLeaving };
  addReadinessRoute(app, operationsDeps);
  if (deps.isMonitoredApart) return createMonitoringApp(operationsDeps);
  addMonitoringRoutes(app, operationsDeps);
  return undefined;
}
