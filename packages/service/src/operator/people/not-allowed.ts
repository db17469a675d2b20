import { OperatorError, refusal } from '../operator.js';
import { mayDo, type Role } from './roles.js';

/** The operator's role does not allow the action. */
export class NotAllowedError extends OperatorError {}

/** Checks the role for a bulk run, which depends on the kind of the run. */
export function requireRoleForRun(role: Role, needed: Role | readonly Role[], kind: string): void {
  if (mayDo(role, needed)) return;
  throw refusal('role-needed', NotAllowedError)`a ${kind} run needs the role ${[needed].flat().join(' or ')}`;
}
