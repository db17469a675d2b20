import type { FastifyRequest } from 'fastify';
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

/** Sent by a page that asks by itself while nobody is there: it does not keep the session alive. */
const UNATTENDED_HEADER = 'x-unattended';

export type Guards = ReturnType<typeof createGuards>;

/** The checks before a request of somebody who is signed in. */
export function createGuards(deps: ConsoleDeps) {
  const isSecure = () => deps.consoleUrl().startsWith('https:');

  /** Before the body is read, and before anything is said about the path. */
  async function requireSession(request: FastifyRequest): Promise<void> {
    const token = readCookie(request, isSecure()) ?? '';
    request.consoleSession = requireOpen(
      await openSession(deps, token, request.headers[UNATTENDED_HEADER] !== undefined),
    );
    request.consoleToken = token;
  }

  /** A body may take long to come, and meanwhile the session may have ended, or the person may have another role. */
  async function requireSessionStill(request: FastifyRequest): Promise<void> {
    request.consoleSession = requireOpen(await openSession(deps, request.consoleToken, true));
  }

  return { isSecure, requireSession, requireSessionStill, requireCsrfToken };
}

async function requireCsrfToken({ method, headers, consoleToken }: FastifyRequest): Promise<void> {
  if (method === 'GET' || method === 'HEAD') return;
  requireOwnSite(headers);
  if (!isCsrfToken(consoleToken, String(headers['x-csrf-token'] ?? ''))) throw new Problem('csrf');
}

/** Browsers say from where a request comes; what other programs leave out they could also invent. */
export function requireOwnSite(headers: FastifyRequest['headers']): void {
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin' && from !== 'none') throw new Problem('csrf');
}

export function requireOpen(session: SessionRow | null | undefined): SessionRow {
  if (!session) throw new Problem('not-signed-in');
  return session;
}
