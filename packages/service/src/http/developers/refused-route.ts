import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../answers/respond.js';
import type { RefusedRequests } from '../requests/refused-requests.js';

/** What was said about a request that this node refused lately. A wildcard, since a request id may hold slashes. */
export function addRefusedRoute(
  app: FastifyInstance,
  refused: RefusedRequests,
  notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.get<{ Params: { '*': string } }>('/developers/refused/*', (request, reply) => {
    const diagnosis = refused.find(request.params['*']);
    if (!diagnosis) return notFound(request, reply);
    return reply
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(JSON.stringify({ diagnosis }));
  });
}
