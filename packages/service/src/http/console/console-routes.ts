import type { FastifyInstance } from 'fastify';
import { describeOperations } from '../../operations/openapi.js';
import { OPERATIONS } from '../../operations/table.js';
import { addressGroup } from '../answers/minute-limit.js';
import { NodeDraining, pageLine } from '../answers/respond.js';
import { createBodyReader } from '../requests/read-body.js';
import { addCellRoutes } from './cell-routes.js';
import type { ConsoleDeps, ConsoleRouteContext } from './console-deps.js';
import { sendConsoleFile, sendConsolePage } from './console-files.js';
import { createGuards } from './guards.js';
import { addOperationRoutes } from './operation-routes.js';
import { Problem, sendProblem, toProblem } from './problem.js';
import { addSessionRoutes } from './session-routes.js';

const API = '/console/api';

/** Escapes a console path that cannot be decoded, so that it is answered like other unknown paths of the console. */
export function readableConsoleUrl(url: string): string {
  if (!url.startsWith('/console/')) return url;
  const [path = '', ...query] = url.split('?');
  return isDecodable(path) ? url : [path.replaceAll('%', '%25'), ...query].join('?');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Adds the console: its pages, and its API below /console/api. */
export function addConsoleRoutes(app: FastifyInstance, deps: ConsoleDeps, context: ConsoleRouteContext): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      createBodyReader(deps.bodies, ({ ip }) => addressGroup(ip)),
    );
    scope.addHook('onSend', async ({ body }) => {
      if (Buffer.isBuffer(body)) deps.bodies.release(body);
    });
    scope.decorateRequest('consoleToken', '');
    scope.decorateRequest('consoleSession', null);
    scope.setErrorHandler((error, request, reply) => {
      const { problem, isFault } = toProblem(error);
      const where = { requestId: request.id, path: request.routeOptions.url };
      if (request.raw.destroyed && !request.raw.complete) deps.log.info(where, 'the client hung up');
      else if (isFault) deps.log.error({ err: error, ...where }, 'fault');
      return sendProblem(reply, problem);
    });
    scope.addHook('onRequest', async (_request, reply) => {
      if (context.isDraining()) throw new NodeDraining();
      void reply.header('x-content-type-options', 'nosniff');
    });
    scope.addHook('onResponse', async (request, reply) => {
      deps.log.info({ ...pageLine(reply), person: request.consoleSession?.name }, 'console');
    });
    scope.get('/console', sendConsolePage);
    scope.get('/console/*', sendConsolePage);
    scope.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
      const sent = await sendConsoleFile(reply, request.params.name);
      return sent ?? sendProblem(reply, new Problem('not-found'));
    });
    await scope.register(async (api) => addApi(api, deps, context), { prefix: API });
  });
}

function addApi(api: FastifyInstance, deps: ConsoleDeps, { readsOnly }: ConsoleRouteContext): void {
  const guards = createGuards(deps);
  const { requireSession, requireCsrfToken } = guards;
  api.addHook('onRequest', async (_request, reply) => {
    void reply.header('cache-control', 'no-store');
  });
  addSessionRoutes(api, deps, guards);
  addCellRoutes(api, deps);
  // Built once, because building it takes 6 ms of CPU time that the API's requests would wait for.
  let openapi: string | undefined;
  api.get('/openapi.json', { onRequest: requireSession }, async (_request, reply) => {
    openapi ??= JSON.stringify(describeOperations(OPERATIONS));
    return reply.type('application/json; charset=utf-8').send(openapi);
  });
  addOperationRoutes(api, deps, guards, readsOnly);
  api.all('/*', { onRequest: [requireSession, requireCsrfToken] }, async () => {
    throw new Problem('not-found');
  });
}
