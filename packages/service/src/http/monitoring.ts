import { createHash, timingSafeEqual } from 'node:crypto';
import { CODES, endpoints, formatTime, Rejection } from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import {
  NodeAwaitsDecision,
  NodeClockWrong,
  NodeDraining,
  NodeStarting,
  sendAnswer,
  toRefusal,
} from './answers/respond.js';
import type { ServiceMetrics } from './metrics.js';
import { requestIdOf } from './requests/signed-headers.js';

export interface MonitoringDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  /** True if this node is stopping or about to stop. */
  readonly isLeaving: () => boolean;
  readonly readsOnly: boolean;
  readonly metricsToken?: string | undefined;
}

/** Shorter than the timeout of load balancers, which usually is some seconds. */
const PING_MS = 1_500;

/** Adds /readyz, which shows whether this node accepts requests. */
export function addReadinessRoute(
  app: FastifyInstance,
  { database, clock, clockWatch, isLeaving, readsOnly }: MonitoringDeps,
): void {
  app.get('/readyz', async (_request, reply) => {
    if (isLeaving()) throw new NodeDraining();
    if (clockWatch.isWrong()) throw new NodeClockWrong();
    await database.ping(PING_MS);
    return sendAnswer(reply, 200, statusAnswer('ready', { engine: readsOnly ? 'off' : 'on' }), formatTime(clock.now()));
  });
}

/** Adds /healthz, which shows that the process is alive. It needs no token, because probes have none. */
function addLivenessRoute(app: FastifyInstance, clock: Clock): void {
  app.get('/healthz', (_request, reply) => sendAnswer(reply, 200, statusAnswer('alive'), formatTime(clock.now())));
}

export function addMonitoringRoutes(
  app: FastifyInstance,
  { clock, metrics: { registry }, metricsToken }: MonitoringDeps,
): void {
  const onRequest = metricsToken === undefined ? [] : [requireToken(metricsToken)];
  addLivenessRoute(app, clock);
  app.get('/metrics', { onRequest }, async (_request, reply) =>
    reply.header('content-type', registry.contentType).send(await registry.metrics()),
  );
}

export function createMonitoringApp(deps: MonitoringDeps): FastifyInstance {
  const app = createPlainApp(deps);
  addReadinessRoute(app, deps);
  addMonitoringRoutes(app, deps);
  return app;
}

type PlainAppDeps = Pick<MonitoringDeps, 'clock' | 'log'>;

/** Paths that probes request every few seconds, so they are not logged. */
const PROBED = new Set(['/healthz', '/readyz', '/metrics']);
const ENDPOINT_PATHS = new Set<string>(endpoints.map(({ path }) => path));

interface StartingAppDeps extends PlainAppDeps {
  /**
   * The decision that an operator must make before the node can serve. Undefined if the node waits for something else.
   */
  readonly awaitedDecision: () => string | undefined;
}

/**
 * Creates the server that answers until the node has its database: /healthz says alive, everything else is refused. It
 * needs no database, and closes before the node itself listens on the port.
 */
export function createStartingApp(deps: StartingAppDeps): FastifyInstance {
  const app = createPlainApp(deps);
  addLivenessRoute(app, deps.clock);
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url === '/healthz') return;
    const decision = request.url === '/readyz' ? deps.awaitedDecision() : undefined;
    throw decision === undefined ? new NodeStarting() : new NodeAwaitsDecision(decision);
  });
  app.addHook('onResponse', async ({ id: requestId, raw: { url = '' } }, { statusCode: status, resultCode, why }) => {
    const [path = ''] = url.split('?');
    if (PROBED.has(path)) return;
    // Other paths are logged as unknown, because they may contain anything.
    const endpoint = ENDPOINT_PATHS.has(path) ? path : 'unknown';
    deps.log.info({ requestId, endpoint, status, code: resultCode, why }, 'request');
  });
  return app;
}

function createPlainApp({ clock, log }: PlainAppDeps): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: 10_000,
    forceCloseConnections: true,
    genReqId: requestIdOf,
  });
  const refuse = (error: unknown, reply: FastifyReply) => {
    const { result, http = result.http, message, headers, why, isFault } = toRefusal(error);
    const { id: requestId, routeOptions } = reply.request;
    if (isFault) log.error({ err: error, requestId, path: routeOptions.url }, 'fault');
    if (why !== undefined) reply.why = why;
    const answer = { code: result.code, message, data: 'null' };
    return sendAnswer(reply.headers(headers), http, answer, formatTime(clock.now()));
  };
  app.setErrorHandler((error, _request, reply) => refuse(error, reply));
  app.setNotFoundHandler((_request, reply) => refuse(new Rejection('PATH_NOT_FOUND'), reply));
  return app;
}

const statusAnswer = (text: string, more = {}) => ({
  ...CODES.SUCCESS,
  data: JSON.stringify({ status: text, ...more }),
});

/** Compares hashes, because timingSafeEqual needs inputs of equal length. */
function requireToken(token: string): (request: FastifyRequest) => Promise<void> {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(`Bearer ${token}`);
  return async ({ headers }) => {
    if (!timingSafeEqual(hash(headers.authorization ?? ''), expected)) throw new Rejection('TOKEN_INVALID');
  };
}
