import { Rejection } from '@perennial/wire';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../answers/respond.js';
import type { RefusedRequests } from '../requests/refused-requests.js';

/** What was said about a request that this node refused lately. A wildcard, since a request id may hold slashes. */
export function addRefusedRoute(app: FastifyInstance, refused: RefusedRequests): void {
  app.get<{ Params: { '*': string } }>('/developers/refused/*', (request, reply) => {
    const diagnosis = refused.find(request.params['*']);
    if (!diagnosis) throw new Rejection('PATH_NOT_FOUND', 'this node has no diagnosis for this request id');
    return reply
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(JSON.stringify({ diagnosis }));
  });
}
