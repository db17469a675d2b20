import { randomUUID } from 'node:crypto';
import { envelopeText, formatTime, HEADER_KEYS, MAX_BODY_BYTES, Rejection } from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import { refuseUnreadable } from './client-error.js';
import type { ServiceMetrics } from './metrics.js';
import { operationsRoutes } from './operations.js';
import { type PipelineDeps, pipeline } from './pipeline.js';
import { bodyTooLarge, Draining, JSON_TYPE, type Refusal, refusalOf } from './respond.js';
import type { Route } from './routes.js';
import { usableRequestId } from './signed-headers.js';

export interface AppDeps extends PipelineDeps {
  readonly routes: readonly Route[];
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  readonly trustedProxies: readonly string[];
}

export interface App {
  readonly server: FastifyInstance;
  /** Refuses new requests with 503001, lets the running ones finish, then closes. */
  drain(): Promise<void>;
}

/** Slow or silent clients hold a socket, never more: headers in 10 s, the whole request in 30 s, 75 s between two. */
const HTTP_LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000, maxHeaderSize: 16_384 };

export function createApp(deps: AppDeps): App {
  const { routes, clock, metrics, log, addresses } = deps;
  let draining = false;
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: HTTP_LIMITS.requestTimeout,
    keepAliveTimeout: HTTP_LIMITS.keepAliveTimeout,
    http: { maxHeaderSize: HTTP_LIMITS.maxHeaderSize, headersTimeout: HTTP_LIMITS.headersTimeout },
    forceCloseConnections: 'idle',
    // Fastify's own answers have no envelope: this app says 503001 itself.
    return503OnClosing: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    genReqId: (request) => usableRequestId(request.headers[HEADER_KEYS.requestId]) ?? randomUUID(),
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, clock),
    routerOptions: { maxParamLength: 100 },
  });

  // Bodies stay bytes: the signature is over them, and nothing is parsed before it holds.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const refuse = (reply: FastifyReply, { result, message, headers }: Refusal) => {
    reply.resultCode = result.code;
    return reply
      .code(result.http)
      .headers(headers)
      .header('content-type', JSON_TYPE)
      .send(envelopeText(result, message, 'null', reply.request.id, formatTime(clock.now())));
  };

  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.isFault) log.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
    if (refusal.result.http === 401) void addresses.failed(request.ip);
    return refuse(reply, refusal);
  });

  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = (request.raw.url ?? '').split('?');
    const known = routes.some((route) => route.endpoint.path === path);
    if (known) void reply.header('allow', 'POST');
    const { result, message } = new Rejection(known ? 'METHOD_NOT_ALLOWED' : 'PATH_NOT_FOUND');
    return refuse(reply, { result, message, headers: {}, isFault: false });
  });

  app.addHook('onResponse', async (request, reply) => {
    const endpoint = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const code = reply.resultCode ?? '';
    metrics.observeRequest(endpoint, reply.statusCode, code, reply.elapsedTime);
    if (endpoint.startsWith('/openapi/')) {
      const appId = request.headers[HEADER_KEYS.appId];
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      log.info({ requestId: request.id, appId, endpoint, status: reply.statusCode, code, ms }, 'request');
    }
  });

  for (const route of routes) {
    const { open, serve } = pipeline(route, deps);
    app.route({
      method: 'POST',
      url: route.endpoint.path,
      onRequest: async (request, reply) => {
        if (draining) {
          void reply.header('connection', 'close');
          throw new Draining();
        }
        await open(request);
        if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return refuse(reply, bodyTooLarge());
        return undefined;
      },
      handler: serve,
    });
  }
  operationsRoutes(app, { ...deps, isDraining: () => draining });

  return {
    server: app,
    async drain() {
      draining = true;
      await app.close();
    },
  };
}
