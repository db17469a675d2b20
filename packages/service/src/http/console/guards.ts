import type { FastifyRequest } from 'fastify';
import { findDeviceOwner } from '../../console/sessions/device.js';
import type { SessionRow } from '../../console/sessions/sessions-sql.js';
import { isCsrfToken, openSession } from '../../console/sessions/sign-in.js';
import type { ConsoleDeps } from './console-deps.js';
import { readCookie } from './cookie.js';
import { Problem } from './problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    consoleToken: string;
    consoleSession: SessionRow | null;
  }
}

/** Sent by pages that poll while the operator is away. Requests with this header do not extend the session. */
const UNATTENDED_HEADER = 'x-unattended';

export type Guards = ReturnType<typeof createGuards>;

/** Creates the checks that run before a request with a session is handled. */
export function createGuards(deps: ConsoleDeps) {
  const isSecure = () => deps.consoleUrl().startsWith('https:');

  /**
   * Returns the dependencies for a request whose operator is not known yet. A known device uses the connections of its
   * operator, so a flood of strangers does not keep operators out.
   */
  function depsOf(request: FastifyRequest): ConsoleDeps {
    const owner = findDeviceOwner(deps.vault, readCookie(request, 'device', isSecure()));
    return owner === undefined ? deps : { ...deps, database: deps.databaseOf(owner) };
  }

  /** Requires a session. Runs before the body is read and before the path is checked. */
  async function requireSession(request: FastifyRequest): Promise<void> {
    const token = readCookie(request, 'session', isSecure()) ?? '';
    request.consoleSession = requireOpen(
      await openSession(depsOf(request), token, request.headers[UNATTENDED_HEADER] !== undefined),
    );
    request.consoleToken = token;
  }

  /** Checks the session again after the body was read: it may have ended, or the role may have changed. */
  async function requireSessionStill(request: FastifyRequest): Promise<void> {
    request.consoleSession = requireOpen(await openSession(depsOf(request), request.consoleToken, true));
  }

  return { isSecure, depsOf, requireSession, requireSessionStill, requireCsrfToken };
}

async function requireCsrfToken({ method, headers, consoleToken }: FastifyRequest): Promise<void> {
  if (method === 'GET' || method === 'HEAD') return;
  requireOwnSite(headers);
  if (!isCsrfToken(consoleToken, String(headers['x-csrf-token'] ?? ''))) throw new Problem('csrf');
}

/**
 * Refuses requests that a browser marks in the header Sec-Fetch-Site as coming from another site. Accepts requests
 * without this header, because only browsers send it reliably.
 */
export function requireOwnSite(headers: FastifyRequest['headers']): void {
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin' && from !== 'none') throw new Problem('csrf');
}

/**
 * Returns true if the operator must set up a second factor before anything else. Operators whom the identity provider
 * has authenticated need no second factor here.
 */
export const needsTotp = ({ totpRoles }: ConsoleDeps, { role, hasTotp, isBySingleSignOn }: SessionRow): boolean =>
  totpRoles.includes(role) && !hasTotp && !isBySingleSignOn;

export function requireOpen(session: SessionRow | null | undefined): SessionRow {
  if (!session) throw new Problem('not-signed-in');
  return session;
}
