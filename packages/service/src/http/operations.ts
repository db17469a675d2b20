import { createHash, timingSafeEqual } from 'node:crypto';
import { CODES, formatTime, Rejection } from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../clock.js';
import type { ClockWatch } from '../db/clock-watch.js';
import type { Database } from '../db/database.js';
import type { ServiceMetrics } from './metrics.js';
import { ClockWrong, Draining, refusalOf, sendAnswer } from './respond.js';

export interface OperationsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly metrics: ServiceMetrics;
  /** Whether this node is about to stop, or stopping. */
  readonly isLeaving: () => boolean;
  readonly readsOnly: boolean;
  /** Who asks for /metrics or /healthz has to send it. */
  readonly metricsToken?: string | undefined;
}

/** Whoever asks counts no answer as an answer, and mostly after some seconds. */
const PING_MS = 1_500;

/** What machines ask: may traffic be sent here. */
export function readinessRoute(
  app: FastifyInstance,
  { database, clock, clockWatch, isLeaving, readsOnly }: OperationsDeps,
): void {
  app.get('/readyz', async (_request, reply) => {
    if (isLeaving()) throw new Draining();
    if (clockWatch.isWrong()) throw new ClockWrong();
    await database.ping(PING_MS);
    return sendAnswer(reply, 200, status('ready', { engine: readsOnly ? 'off' : 'on' }), formatTime(clock.now()));
  });
}

/** And: is the process alive, how is it doing. */
export function monitoringRoutes(app: FastifyInstance, { clock, metrics, metricsToken }: OperationsDeps): void {
  const onRequest = metricsToken === undefined ? [] : [requireToken(metricsToken)];

  app.get('/healthz', { onRequest }, (_request, reply) =>
    sendAnswer(reply, 200, status('alive'), formatTime(clock.now())),
  );

  app.get('/metrics', { onRequest }, async (_request, reply) =>
    reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}

/** All of it on a listener of its own. */
export function createOperationsApp(deps: OperationsDeps): FastifyInstance {
  const app = fastify({ logger: false, requestTimeout: 10_000, forceCloseConnections: true });
  const refuse = (error: unknown, reply: FastifyReply) => {
    const { result, http = result.http, message, headers } = refusalOf(error);
    const answer = { code: result.code, message, data: 'null' };
    return sendAnswer(reply.headers(headers), http, answer, formatTime(deps.clock.now()));
  };
  app.setErrorHandler((error, _request, reply) => refuse(error, reply));
  app.setNotFoundHandler((_request, reply) => refuse(new Rejection('PATH_NOT_FOUND'), reply));
  readinessRoute(app, deps);
  monitoringRoutes(app, deps);
  return app;
}

const status = (text: string, more = {}) => ({ ...CODES.SUCCESS, data: JSON.stringify({ status: text, ...more }) });

/** Compared by their hashes, which takes as long for any text. */
function requireToken(token: string): (request: FastifyRequest) => Promise<void> {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(`Bearer ${token}`);
  return async ({ headers }) => {
    if (!timingSafeEqual(hash(headers.authorization ?? ''), expected)) throw new Rejection('TOKEN_INVALID');
  };
}
