import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../answers/respond.js';
import type { FindRefused } from '../requests/refused-requests.js';

/** What was said about a request that this node refused lately. A wildcard, since a request id may hold slashes. */
export function addRefusedRoute(
  app: FastifyInstance,
  findRefused: FindRefused,
  notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.get<{ Params: { '*': string } }>('/developers/refused/*', async (request, reply) => {
    const diagnosis = findRefused(request.params['*']);
    if (!diagnosis) return notFound(request, reply);
    return reply
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(JSON.stringify({ diagnosis }));
  });
}
