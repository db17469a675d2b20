import http, { type IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES, Rejection } from '@perennial/wire';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { toRefusal } from './answers/respond.js';
import { createUnreadCloser } from './answers/unread-closer.js';
import { readableConsoleUrl } from './console/console-routes.js';
import { createConnectionBound } from './limits/connections.js';
import type { HttpLimits } from './limits/http-limits.js';
import type { LargeBodies } from './limits/large-bodies.js';
import { createSilentConnections } from './limits/silent-connections.js';
import type { Refuse } from './refusals.js';
import { createEarlyRefusal, type RefuseEarlyDeps } from './refuse-early.js';
import { createMalformedHttpHandler } from './requests/malformed-http.js';
import { limitPipelinedRequests } from './requests/pipelined-requests.js';
import { createBodyReader } from './requests/read-body.js';
import { requestIdOf } from './requests/signed-headers.js';

export interface ListenerDeps extends Omit<RefuseEarlyDeps, 'isSpare' | 'halfCloseMs'> {
  readonly limits: HttpLimits;
  readonly bodies: LargeBodies;
  readonly trustedProxies: readonly string[];
  readonly refuse: Refuse;
}

/** Creates the server of the API, without routes, with the limits on its connections. */
export function createListener(deps: ListenerDeps) {
  const { limits, clock, metrics, refuse } = deps;
  const unread = createUnreadCloser(limits.writeTimeout);
  const silent = createSilentConnections();
  const bound = createConnectionBound(limits, metrics.countDropped);
  metrics.watchConnections(bound.counts);
  const earlyRefusal = createEarlyRefusal({ ...deps, isSpare: bound.isSpare, halfCloseMs: limits.halfCloseTimeout });
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handler) => {
      const server = createNodeServer(limits, limitPipelinedRequests(earlyRefusal.wrap(handler)));
      for (const watcher of [unread, bound, silent]) watcher.watch(server);
      return server;
    },
    forceCloseConnections: 'idle',
    // Fastify's own 503 has no JSON envelope, so this app answers 503001 itself.
    return503OnClosing: false,
    trustProxy: toTrustProxy(deps.trustedProxies),
    genReqId: requestIdOf,
    clientErrorHandler: createMalformedHttpHandler(clock, limits.halfCloseTimeout),
    // Answers PATH_NOT_FOUND to a path that cannot be percent-decoded.
    frameworkErrors: (_error, _request, reply) => refuse(reply, toRefusal(new Rejection('PATH_NOT_FOUND'))),
    rewriteUrl: ({ url = '' }) => readableConsoleUrl(url),
    routerOptions: { maxParamLength: 100 },
  });
  // Keeps bodies as bytes, because the signature covers the bytes and is checked before parsing. Names JSON besides
  // `*`, because Fastify caches the parser of a named type. For any other type, it parses the header again each time.
  app.removeAllContentTypeParsers();
  // The signature covers the body, so only an access token shows the channel. All other requests share the room of one
  // channel. An app id has no spaces.
  const ownerOf = (request: FastifyRequest) => deps.failures.tokenHolder(request) ?? 'a stranger';
  app.addContentTypeParser(['application/json', '*'], createBodyReader(deps.bodies, ownerOf));
  answerExpectations(app);
  return { app, unread, silent, earlyRefusal };
}

function createNodeServer(limits: HttpLimits, handler: http.RequestListener): http.Server {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, maxHeaderSize, keepAliveTimeout } = limits;
  const timeouts = { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout };
  // A request needs no Host header, and Node's answer to a missing Host would have no JSON envelope.
  const server = http.createServer({ ...timeouts, maxHeaderSize, requireHostHeader: false }, handler);
  // No limit on the number of headers, only maxHeaderSize. By default Node would silently drop headers beyond 2,000.
  server.maxHeadersCount = 0;
  return server;
}

/**
 * Replaces Node's handling of the header Expect: Node would accept a body of any size, and would refuse unknown
 * expectations without an envelope.
 */
function answerExpectations({ server }: FastifyInstance): void {
  server.on('checkContinue', (request, response) => {
    if (!declaresTooLargeBody(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Checks the Content-Length. A body without this header is measured while it is read. */
export function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES;
}

export const toTrustProxy = (proxies: readonly string[]) => (proxies.length === 0 ? false : [...proxies]);
