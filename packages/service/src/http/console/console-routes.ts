import { Readable } from 'node:stream';
import type { ObjectSchema } from '@perennial/wire';
import { Rejection } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import type { ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { deleteSession, type SessionRow } from '../../console/sessions/sessions-sql.js';
import {
  csrfToken,
  isCsrfToken,
  openSession,
  proveAgain,
  type SignInDeps,
  signIn,
  type Visitor,
} from '../../console/sessions/sign-in.js';
import { describeOperations } from '../../operations/openapi.js';
import { FileAnswer, type SignedInPerson, type Tools } from '../../operations/operation.js';
import { isInDigits } from '../../operations/schemas/parts.js';
import * as schema from '../../operations/schemas/session.js';
import { OPERATIONS } from '../../operations/table.js';
import { maskWrittenMobiles } from '../../operator/masking.js';
import type { OperatorWithGateways } from '../../operator/operator.js';
import { completeSetup } from '../../operator/people/people.js';
import { mayDo } from '../../operator/people/roles.js';
import type { Transactional } from '../../platform/db/database.js';
import type { SingleSignOnSettings } from '../../platform/settings.js';
import { VERSION } from '../../platform/version.js';
import { addressGroup } from '../answers/minute-limit.js';
import { NodeDraining, NodeReadsOnly } from '../answers/respond.js';
import { readJsonObject } from '../requests/json-body.js';
import { compileSchema, describeInvalid } from '../requests/validate.js';
import { sendConsoleFile, sendConsolePage } from './console-files.js';
import { clearCookie, readCookie, setCookie } from './cookie.js';
import { Problem, sendProblem, toProblem } from './problem.js';
import { createSingleSignOn } from './single-sign-on.js';

export interface ConsoleDeps extends Tools, SignInDeps {
  readonly operator: Omit<OperatorWithGateways, 'actor'>;
  readonly log: Logger;
  readonly singleSignOn: SingleSignOnSettings | undefined;
}

export interface ConsoleRouteContext {
  readonly isDraining: () => boolean;
  readonly readsOnly: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    consoleToken: string;
    consoleSession: SessionRow | null;
  }
}

const MAX_BODY_BYTES = 1_000_000;
const API = '/console/api';
/** Sent by a page that asks by itself while nobody is there: it does not keep the session alive. */
const UNATTENDED_HEADER = 'x-unattended';

/** A path that cannot be decoded is read as it is written: then it names nothing, and is judged like any other. */
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

/** The console: its pages, and below /console/api what they ask for. */
export function addConsoleRoutes(app: FastifyInstance, deps: ConsoleDeps, context: ConsoleRouteContext): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.decorateRequest('consoleToken', '');
    scope.decorateRequest('consoleSession', null);
    scope.setErrorHandler((error, request, reply) => {
      const { problem, isFault } = toProblem(error);
      if (isFault) deps.log.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      return sendProblem(reply, problem);
    });
    scope.addHook('onRequest', async (_request, reply) => {
      if (context.isDraining()) throw new NodeDraining();
      void reply.header('x-content-type-options', 'nosniff');
    });
    scope.addHook('onResponse', async (request, reply) => {
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      const line = { requestId: request.id, method: request.method, endpoint: request.routeOptions.url };
      const person = request.consoleSession?.name;
      deps.log.info({ ...line, person, status: reply.statusCode, ms }, 'console');
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
  const { consoleUrl, log } = deps;
  const isSecure = () => consoleUrl().startsWith('https:');
  const singleSignOn = createSingleSignOn(deps);

  const visitorOf = ({ ip, headers }: FastifyRequest): Visitor => ({
    address: addressGroup(ip),
    userAgent: String(headers['user-agent'] ?? '').slice(0, 300),
  });

  /** Before the body is read, and before anything is said about the path. */
  async function requireSession(request: FastifyRequest): Promise<void> {
    const token = readCookie(request, isSecure()) ?? '';
    const session = await openSession(deps, token, request.headers[UNATTENDED_HEADER] !== undefined);
    if (!session) throw new Problem('not-signed-in');
    request.consoleToken = token;
    request.consoleSession = session;
  }

  /** A body may take long to come, and meanwhile the session may have ended, or the person may have another role. */
  async function requireSessionStill(request: FastifyRequest): Promise<void> {
    const session = await openSession(deps, request.consoleToken, true);
    if (!session) throw new Problem('not-signed-in');
    request.consoleSession = session;
  }

  async function requireCsrfToken({ method, headers, consoleToken }: FastifyRequest): Promise<void> {
    if (method === 'GET' || method === 'HEAD') return;
    requireOwnSite(headers);
    if (!isCsrfToken(consoleToken, String(headers['x-csrf-token'] ?? ''))) throw new Problem('csrf');
  }

  const describeSession = (token: string, session: SessionRow) => ({
    name: session.name,
    role: session.role,
    csrfToken: csrfToken(token),
    environment: deps.operator.environment,
    currency: deps.operator.currency ?? DEFAULT_CURRENCY,
    version: VERSION,
    hasTotp: session.hasTotp,
    hasPassword: session.hasPassword,
    provenUntil: session.provenUntil,
    expiresAt: session.expiresAt,
    refundApprovalCent: deps.refundApprovalCent,
  });

  async function answerSession(reply: FastifyReply, token: string): Promise<FastifyReply> {
    const session = await openSession(deps, token);
    if (!session) throw new Problem('not-signed-in');
    return sendJson(reply, describeSession(token, session));
  }

  api.addHook('onRequest', async (_request, reply) => {
    void reply.header('cache-control', 'no-store');
  });

  api.get('/sign-in-ways', async (_request, reply) =>
    sendJson(reply, {
      environment: deps.operator.environment,
      oidc: singleSignOn !== undefined,
      oidcName: singleSignOn?.name ?? null,
    }),
  );
  const readSignIn = createReader(schema.signInRequest);
  api.post('/session', { bodyLimit: 10_000 }, async (request, reply) => {
    requireOwnSite(request.headers);
    const asked = readSignIn(request) as { name: string; password: string; code?: string };
    const token = await signIn(deps, asked, visitorOf(request));
    setCookie(reply, token, isSecure());
    return answerSession(reply, token);
  });
  const readSetup = createReader(schema.setupRequest);
  api.post('/setup', { bodyLimit: 10_000 }, async (request, reply) => {
    requireOwnSite(request.headers);
    const asked = readSetup(request) as { token: string; password: string };
    return sendJson(reply, await completeSetup({ ...deps.operator, actor: 'console' }, asked));
  });
  singleSignOn?.addRoutes(api, {
    visitorOf,
    signedIn(reply, token, returnTo) {
      setCookie(reply, token, isSecure());
      return reply.redirect(returnTo, 303);
    },
  });

  api.get('/session', { onRequest: requireSession }, async ({ consoleToken, consoleSession }, reply) =>
    sendJson(reply, describeSession(consoleToken, requireOpen(consoleSession))),
  );
  api.delete('/session', { onRequest: [requireSession, requireCsrfToken] }, async ({ consoleSession }, reply) => {
    const { sessionId, personId } = requireOpen(consoleSession);
    await deleteSession(deps.database, sessionId, personId);
    clearCookie(reply, isSecure());
    return reply.code(204).send();
  });
  const readProof = createReader(schema.proofRequest);
  api.post(
    '/session/proof',
    { onRequest: [requireSession, requireCsrfToken], preHandler: requireSessionStill, bodyLimit: 10_000 },
    async (request, reply) => {
      await proveAgain(deps, requireOpen(request.consoleSession), readProof(request));
      return answerSession(reply, request.consoleToken);
    },
  );
  api.get('/openapi.json', { onRequest: requireSession }, async (_request, reply) =>
    sendJson(reply, describeOperations(OPERATIONS)),
  );

  for (const one of OPERATIONS) {
    const readQuery = createQueryReader(one.query);
    const readBody = one.body ? createReader(one.body) : () => ({});
    const isWrite = one.method !== 'GET';
    const requireRole = async ({ consoleSession }: FastifyRequest) => {
      if (!mayDo(requireOpen(consoleSession).role, one.role)) throw new Problem('not-allowed');
    };
    api.route<{ Params: Record<string, string> }>({
      method: one.method,
      url: one.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: one.maxBodyBytes ?? MAX_BODY_BYTES,
      onRequest: [
        requireSession,
        requireCsrfToken,
        requireRole,
        async () => {
          if (readsOnly && isWrite && !one.isOwn) throw new NodeReadsOnly();
        },
      ],
      preHandler: isWrite ? [requireSessionStill, requireRole] : [],
      async handler(request, reply) {
        const session = requireOpen(request.consoleSession);
        // No name has it, and PostgreSQL takes none that does.
        if (Object.values(request.params).some((one) => one.includes('\0'))) throw new Problem('not-found');
        // The path comes last: nothing else names what it names.
        const input = { ...readQuery(request), ...readBody(request), ...request.params };
        if (one.needsProof && !session.isProven) throw new Problem('proof-needed');
        const operator = operatorOf(request, session);
        const context = { ...deps, person: personOf(session) };
        const result = await one.run(operator, input as never, context);
        const answer = one.toAnswer ? await one.toAnswer(result as never, context, operator) : result;
        if (answer instanceof FileAnswer) return sendFile(reply, answer, log);
        return sendJson(reply, session.role === 'viewer' ? maskWrittenMobiles(answer) : answer);
      },
    });
  }
  api.all('/*', { onRequest: [requireSession, requireCsrfToken] }, async () => {
    throw new Problem('not-found');
  });

  const operatorOf = ({ ip }: FastifyRequest, { name }: SessionRow): OperatorWithGateways => ({
    ...deps.operator,
    database: withAddress(deps.operator.database, ip),
    actor: name,
  });
}

const personOf = ({ personId, name, role, sessionId }: SessionRow): SignedInPerson => ({
  personId,
  name,
  role,
  sessionId,
});

/** Browsers say from where a request comes; what other programs leave out they could also invent. */
function requireOwnSite(headers: FastifyRequest['headers']): void {
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin' && from !== 'none') throw new Problem('csrf');
}

function requireOpen(session: SessionRow | null): SessionRow {
  if (!session) throw new Problem('not-signed-in');
  return session;
}

/** Reads a JSON body by its schema. */
function createReader(of: ObjectSchema): (request: FastifyRequest) => Record<string, unknown> {
  let validate: ValidateFunction | undefined;
  return ({ body, headers }) => {
    // A form of another site can send any text, but not under this name.
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
      throw new Rejection('PARAM_INVALID', 'send application/json');
    }
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const value = readJsonObject(bytes, headers['content-encoding']);
    validate ??= compileSchema(refuseOtherFields(of) as ObjectSchema);
    if (!validate(value)) throw new Rejection('PARAM_INVALID', describeInvalid(validate.errors?.[0]));
    return value;
  };
}

/** A field that is not in the schema may be one that only the service itself gives to a step, such as who has approved it. */
function refuseOtherFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refuseOtherFields);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, refuseOtherFields(part)]));
  return 'properties' in parts ? { additionalProperties: false, ...parts } : parts;
}

/** A field of a query is one text; what is empty is not given. */
function createQueryReader(of: ObjectSchema | undefined): (request: FastifyRequest) => Record<string, string | number> {
  let validate: ValidateFunction | undefined;
  const names = new Set(Object.keys(of?.properties ?? {}));
  return ({ raw }) => {
    const query: Record<string, string> = {};
    for (const [name, value] of new URLSearchParams((raw.url ?? '').replace(/^[^?]*\??/, ''))) {
      if (!names.has(name))
        throw new Rejection('PARAM_INVALID', `there is no parameter ${JSON.stringify(name.slice(0, 64))}`);
      if (name in query) throw new Rejection('PARAM_INVALID', `${name} is given twice`);
      if (value.includes('\u0000'))
        throw new Rejection('PARAM_INVALID', `${name} holds a character that is not allowed`);
      if (value !== '') query[name] = value;
    }
    if (!of) return query;
    validate ??= compileSchema(of);
    if (!validate(query)) throw new Rejection('PARAM_INVALID', describeInvalid(validate.errors?.[0]));
    const { properties } = of;
    return Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, isInDigits(properties[name] ?? {}) ? Number(value) : value]),
    );
  };
}

function sendJson(reply: FastifyReply, answer: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer));
}

function sendFile(reply: FastifyReply, { name, type, pieces }: FileAnswer, log: Logger): FastifyReply {
  const stream = Readable.from(pieces);
  stream.on('error', (err) => log.error({ err, requestId: reply.request.id }, 'fault'));
  return reply
    .header('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`)
    .type(type)
    .send(stream);
}

/** Entries of the audit log that are written through it say where the person is. */
function withAddress(database: Transactional, address: string): Transactional {
  return {
    query: database.query,
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        // Not by a query, which has no place before the `set transaction` of some steps; an address has none of the
        // characters that would matter.
        await tx.query(`set local perennial.address = '${address.replaceAll(/[^\w:.]/g, '')}'`);
        return work(tx);
      }, options),
  };
}
