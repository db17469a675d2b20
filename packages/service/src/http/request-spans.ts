import { SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readTraceparent, type StartedSpan, TRACEPARENT, type Tracing } from '../platform/tracing.js';

/** Not health checks, which come every few seconds, nor unknown paths. */
const isTraced = (route: string | undefined) => route !== undefined && /^\/(openapi|gateway|redeem)\b/.test(route);

/** A span for each request, from its headers to the end of its answer, with all that is done for it below. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const underWay = new WeakMap<FastifyRequest, StartedSpan>();
  app.addHook('onRequest', (request, reply, done) => {
    const { url: route } = request.routeOptions;
    if (request.is404 || route === undefined || !isTraced(route)) return done();
    // A user's browser has no span: a visit is a new trace.
    const caller = route.startsWith('/redeem') ? undefined : readTraceparent(request.headers[TRACEPARENT]);
    const started = tracing.startRequest(`${request.method} ${route}`, caller);
    const { span } = started;
    span.setAttributes({
      'http.request.method': request.method,
      'http.route': route,
      'perennial.request_id': request.id,
    });
    underWay.set(request, started);
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.statusCode);
      if (reply.resultCode !== undefined) span.setAttribute('perennial.code', reply.resultCode);
      if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    done();
  });
  // Not in an earlier hook: a body is read in the context of its connection.
  app.addHook('preHandler', (request, _reply, done) => {
    const started = underWay.get(request);
    if (started) tracing.runWithin(started, done);
    else done();
  });
}
