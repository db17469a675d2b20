import { OperatorError } from '../operator.js';
import { mayDo, type Role } from './roles.js';

/** What a person's role does not allow. */
export class NotAllowedError extends OperatorError {}

/** For what depends on more than the operation itself, such as the kind of a bulk run. */
export function requireRole(role: Role, needed: Role | readonly Role[], what: string): void {
  if (mayDo(role, needed)) return;
  throw new NotAllowedError(`${what} needs the role ${[needed].flat().join(' or ')}`);
}
