import { trimSlashes } from '@perennial/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.js';
import { addressGroup, createMinuteLimit } from '../answers/minute-limit.js';
import { JSON_TYPE, NodeDraining, pageLine, toRefusal } from '../answers/respond.js';
import { ASK_EACH_TIME, KEEP_FOR_GOOD, pageHeaders, sendStaticFile } from '../answers/static-files.js';
import type { NotFound } from '../refusals.js';
import type { FindRefused } from '../requests/refused-requests.js';
import { createDevelopersFiles, type Installation, rootOf } from './developers-files.js';
import { sendStartPage } from './start-page.js';

export interface DevelopersDeps extends Installation {
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: on. If off, there are no pages below /developers, only the service's start page at /. */
  readonly developers?: 'on' | 'off';
  /** Replaces the usual limit in tests. */
  readonly developersFilesPerMinute?: number;
}

export interface DevelopersContext {
  readonly isDraining: () => boolean;
  /** True if the console is on the same listener. */
  readonly hasConsole: boolean;
  readonly notFound: NotFound;
  /** Sandbox only. */
  readonly findRefused: FindRefused | undefined;
}

/** The maximum number of files per minute and address. Files are served from memory, and a page loads five of them. */
const FILES_PER_MINUTE = 1_200;

/** Documents that programs on other sites are allowed to read. */
const OPEN_TO_ALL = new Set(['openapi.json', 'vectors.json']);

/** Adds the start page, and the developers' pages below /developers. */
export function addDevelopersRoutes(app: FastifyInstance, deps: DevelopersDeps, context: DevelopersContext): void {
  const { publicUrl, log } = deps;
  const limit = createMinuteLimit(deps.developersFilesPerMinute ?? FILES_PER_MINUTE, deps.clock);
  const findFile = createDevelopersFiles(deps);
  const hasDevelopers = deps.developers !== 'off';

  async function sendFile(reply: FastifyReply, path: string): Promise<FastifyReply> {
    const isPage = !/\.\w+$/.test(path);
    const name = isPage ? `${path}.html` : path;
    const file = name === NOT_FOUND ? undefined : await findFile(name);
    if (!file) return sendNotFound(reply);
    void reply.headers(pageHeaders());
    if (OPEN_TO_ALL.has(name)) void reply.header('access-control-allow-origin', '*');
    return sendStaticFile(reply, file, name.startsWith('assets/') ? KEEP_FOR_GOOD : ASK_EACH_TIME);
  }

  async function sendNotFound(reply: FastifyReply): Promise<FastifyReply> {
    const page = await findFile(NOT_FOUND);
    void reply.headers(pageHeaders()).header('cache-control', 'no-store');
    if (page) return reply.code(404).type(page.type).send(page.bytes);
    return reply.code(503).type(PLAIN).send('These pages are not built: run npm run build.\n');
  }

  /** Sends the diagnosis of a request that this node refused recently, as JSON for programs. */
  function sendDiagnosis(request: FastifyRequest, reply: FastifyReply, requestId: string): FastifyReply {
    const diagnosis = context.findRefused?.(requestId);
    if (!diagnosis) return context.notFound(request, reply);
    return reply
      .headers({ 'content-type': JSON_TYPE, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      .send(JSON.stringify({ diagnosis }));
  }

  void app.register(async (pages) => {
    pages.addHook('onRequest', async ({ ip }) => {
      if (context.isDraining()) throw new NodeDraining();
      limit.checkAndCount(addressGroup(ip));
    });
    pages.addHook('onResponse', async (_request, reply) => log.debug(pageLine(reply), 'page'));
    pages.setErrorHandler((error, request, reply) => {
      const { result, headers, message, isFault } = toRefusal(error);
      if (isFault) log.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      return reply.code(result.http).headers(headers).type(PLAIN).send(`${message}\n`);
    });

    pages.get('/', async (request, reply) => {
      void reply.header('vary', 'accept');
      // Answers 404 to a program that expects the API at this path, and to the request target `*`, which the router
      // also matches with this path.
      if (request.raw.url === '*' || asksForJson(request.headers.accept)) return context.notFound(request, reply);
      return sendStartPage(reply, { ...deps, hasDevelopers, hasConsole: context.hasConsole });
    });
    if (!hasDevelopers) return;
    pages.get('/developers', (_request, reply) => sendFile(reply, 'index'));
    pages.get<{ Params: { '*': string } }>('/developers/*', async (request, reply) => {
      const asked = request.params['*'];
      if (asked.startsWith('refused/')) return sendDiagnosis(request, reply, asked.slice('refused/'.length));
      const path = trimSlashes(asked);
      const isTidy = path === asked && path !== '';
      if (isTidy) return sendFile(reply, path);
      return reply.redirect(`${rootOf(publicUrl())}/developers${path === '' ? '' : `/${encodeURI(path)}`}`, 308);
    });
  });
}

/** The page for unknown paths. It has no URL of its own. */
const NOT_FOUND = 'not-found.html';
const PLAIN = 'text/plain; charset=utf-8';

const asksForJson = (accept = ''): boolean => accept.includes('json') && !/text\/html|\*\/\*/.test(accept);
