import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deleteSession, type SessionRow } from '../../console/sessions/sessions-sql.js';
import { csrfToken, openSession, proveAgain, signIn, type Visitor } from '../../console/sessions/sign-in.js';
import { traceFailedSignIn } from '../../console/sessions/trace-failure.js';
import { completeSetup } from '../../operator/people/people.js';
import * as schema from '../../operator/schemas/session.js';
import type { Cell } from '../../platform/cells.js';
import { VERSION } from '../../platform/version.js';
import { addressGroup } from '../answers/minute-limit.js';
import type { ConsoleDeps } from './console-deps.js';
import { readCookie, setCookie } from './cookie.js';
import { type Guards, needsTotp, requireOpen, requireOwnSite } from './guards.js';
import { sendJson } from './problem.js';
import { createReader } from './read-input.js';
import { createSingleSignOn } from './single-sign-on.js';

/** Adds the routes of sign-in, by password or single sign-on, and of the operator's own session. */
export function addSessionRoutes(api: FastifyInstance, deps: ConsoleDeps, guards: Guards): void {
  addSignInRoutes(api, deps, guards);
  addOwnSessionRoutes(api, deps, guards);
}

function addSignInRoutes(api: FastifyInstance, deps: ConsoleDeps, { isSecure, depsOf }: Guards): void {
  const singleSignOn = createSingleSignOn(deps);
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
    const visitor = {
      ...visitorOf(request),
      device: readCookie(request, 'device', isSecure()),
      token: readCookie(request, 'session', isSecure()),
    };
    const { token, device } = await signIn(depsOf(request), asked, visitor).catch(async (error) => {
      await traceFailedSignIn(deps, asked.name, visitor, error);
      throw error;
    });
    setCookie(reply, 'session', token, isSecure());
    setCookie(reply, 'device', device, isSecure());
    return answerSession(depsOf(request), reply, token);
  });
  const readSetup = createReader(schema.setupRequest);
  api.post('/setup', { bodyLimit: 10_000 }, async (request, reply) => {
    requireOwnSite(request.headers);
    const asked = readSetup(request) as { token: string; password: string };
    return sendJson(reply, await completeSetup({ ...deps.operator, database: deps.database, actor: 'console' }, asked));
  });
  singleSignOn?.addRoutes(api, {
    visitorOf,
    signedIn(reply, { token, device }, returnTo) {
      setCookie(reply, 'session', token, isSecure());
      setCookie(reply, 'device', device, isSecure());
      return reply.redirect(returnTo, 303);
    },
  });
}

function addOwnSessionRoutes(api: FastifyInstance, deps: ConsoleDeps, guards: Guards): void {
  const { isSecure, requireSession, requireSessionStill, requireCsrfToken } = guards;
  api.get('/session', { onRequest: requireSession }, async ({ consoleToken, consoleSession }, reply) =>
    sendJson(reply, describeSession(deps, consoleToken, requireOpen(consoleSession))),
  );
  api.delete('/session', { onRequest: [requireSession, requireCsrfToken] }, async ({ consoleSession }, reply) => {
    const { sessionId, personId } = requireOpen(consoleSession);
    await deleteSession(deps.database, sessionId, personId);
    setCookie(reply, 'session', '', isSecure());
    return reply.code(204).send();
  });
  const readProof = createReader(schema.proofRequest);
  api.post(
    '/session/proof',
    { onRequest: [requireSession, requireCsrfToken], preHandler: requireSessionStill, bodyLimit: 10_000 },
    async (request, reply) => {
      const session = requireOpen(request.consoleSession);
      const own = { ...deps, database: deps.databaseOf(session.personId) };
      await proveAgain(own, session, readProof(request));
      return answerSession(own, reply, request.consoleToken);
    },
  );
}

const visitorOf = ({ ip, headers }: FastifyRequest): Visitor => ({
  address: addressGroup(ip),
  userAgent: String(headers['user-agent'] ?? '').slice(0, 300),
});

const describeSession = (deps: ConsoleDeps, token: string, session: SessionRow) => ({
  name: session.name,
  role: session.role,
  csrfToken: csrfToken(token),
  environment: deps.operator.environment,
  currency: deps.operator.currency ?? DEFAULT_CURRENCY,
  version: VERSION,
  hasTotp: session.hasTotp,
  recoveryCodesLeft: session.recoveryCodesLeft,
  hasPassword: session.hasPassword,
  needsTotp: needsTotp(deps, session),
  provenUntil: session.provenUntil,
  expiresAt: session.expiresAt,
  refundApprovalCent: deps.refundApprovalCent,
  cell: deps.cells.cell,
  cells: deps.cells.cells.length < 2 ? [] : deps.cells.cells.map(toShownCell),
});

const toShownCell = ({ cell, console: consoleUrl }: Cell) => ({ cell, consoleUrl: consoleUrl ?? null });

async function answerSession(deps: ConsoleDeps, reply: FastifyReply, token: string): Promise<FastifyReply> {
  return sendJson(reply, describeSession(deps, token, requireOpen(await openSession(deps, token))));
}
