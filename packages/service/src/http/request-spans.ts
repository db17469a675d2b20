import { SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readTraceparent, type StartedSpan, TRACEPARENT, type Tracing } from '../platform/tracing.js';

/** Returns true for the API, notices and redemption pages, but not for health checks, which come every few seconds. */
const isTraced = (route: string | undefined) => route !== undefined && /^\/(openapi|gateway|redeem)\b/.test(route);

/** Starts a span for each traced request, from its headers to the end of its answer. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, StartedSpan>();
  app.addHook('onRequest', (request, reply, done) => {
    const { url: route } = request.routeOptions;
    if (request.is404 || route === undefined || !isTraced(route)) return done();
    // Ignores a trace context from browsers, so each request for a page starts a new trace.
    const caller = route.startsWith('/redeem') ? undefined : readTraceparent(request.headers[TRACEPARENT]);
    const started = tracing.startRequest(`${request.method} ${route}`, caller);
    const { span } = started;
    span.setAttributes({
      'http.request.method': request.method,
      'http.route': route,
      'perennial.request_id': request.id,
    });
    spans.set(request, started);
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.statusCode);
      if (reply.resultCode !== undefined) span.setAttribute('perennial.code', reply.resultCode);
      if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    done();
  });
  // Enters the span only in this hook. If the span were entered earlier, it would be lost while the body is read,
  // because the body is read in the connection's context.
  app.addHook('preHandler', (request, _reply, done) => {
    const started = spans.get(request);
    if (started) tracing.runWithin(started, done);
    else done();
  });
}
