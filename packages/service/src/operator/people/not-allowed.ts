import { OperatorError, refusal } from '../operator.js';
import { mayDo, type Role } from './roles.js';

/** What a person's role does not allow. */
export class NotAllowedError extends OperatorError {}

/** For what depends on more than the operation itself: a bulk run, on what it does. */
export function requireRoleForRun(role: Role, needed: Role | readonly Role[], kind: string): void {
  if (mayDo(role, needed)) return;
  throw refusal('role-needed', NotAllowedError)`a run that does ${kind} needs the role ${[needed].flat().join(' or ')}`;
}
