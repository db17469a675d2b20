import type { FastifyInstance } from 'fastify';
import { CELL_OVERVIEW_PATH } from '../../operator/cells/ask-cells.js';
import { showOverview } from '../../operator/overview/overview.js';
import { overviewQuery } from '../../operator/schemas/overview.js';
import type { ConsoleDeps } from './console-deps.js';
import { Problem, sendJson } from './problem.js';
import { createQueryReader } from './read-input.js';

/** Adds the route by which another cell of the installation reads the figures. It has no session, but a signature. */
export function addCellRoutes(api: FastifyInstance, deps: ConsoleDeps): void {
  const readQuery = createQueryReader(overviewQuery);
  api.get(CELL_OVERVIEW_PATH, async (request, reply) => {
    const [, query = ''] = (request.raw.url ?? '').split('?');
    if (!(await deps.cells.isFromCell(query, request.headers.authorization))) throw new Problem('not-signed-in');
    const operator = { ...deps.operator, database: deps.database, actor: 'another cell' };
    return sendJson(reply, await showOverview(operator, readQuery(request)));
  });
}
