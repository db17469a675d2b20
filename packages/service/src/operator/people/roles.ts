/** Viewers may only read. All other roles may read too, and admins may do everything. */
export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Returns true if the role may approve requests of other operators. */
export const mayApprove = (role: unknown): boolean => role === 'finance' || role === 'admin';

/** Roles that may look for a user by id. Viewers may not: they see masked ids, and a hit would confirm a guessed id. */
export const ROLES_FOR_USERS: readonly Role[] = ['support', 'finance'];

/** Returns true if `role` includes the needed role, or at least one of several needed roles. */
export function mayDo(role: Role, needed: Role | readonly Role[]): boolean {
  const roles: readonly Role[] = typeof needed === 'string' ? [needed] : needed;
  return role === 'admin' || roles.includes('viewer') || roles.includes(role);
}
