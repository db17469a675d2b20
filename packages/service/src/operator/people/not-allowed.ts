import { OperatorError, refusal } from '../operator.js';
import { mayDo, type Role } from './roles.js';

/** Thrown if the operator's role does not allow the action. */
export class NotAllowedError extends OperatorError {}

/** Throws if the role does not allow this kind of bulk run. */
export function requireRoleForRun(role: Role, needed: Role | readonly Role[], kind: string): void {
  if (mayDo(role, needed)) return;
  throw refusal('role-needed', NotAllowedError)`a ${kind} run needs the role ${[needed].flat().join(' or ')}`;
}
