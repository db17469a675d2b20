import type { Logger } from 'pino';
import { traceFailure } from '../../operator/people/sign-in-traces-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { Locked, type Visitor, WrongProof } from './sign-in.js';

/** Logs a failed sign-in, and counts it for the audit log and the alert. Ignores other errors. */
export async function traceFailedSignIn(
  { database, log }: { readonly database: Queryable; readonly log: Logger },
  given: string,
  { address }: Visitor,
  error: unknown = new WrongProof(),
): Promise<void> {
  if (!(error instanceof WrongProof || error instanceof Locked)) return;
  const { name } = await traceFailure(database, given, address);
  log.warn({ person: name, address, isLocked: error instanceof Locked }, 'a sign-in failed');
}
