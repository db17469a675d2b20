/** What a person may do: viewers read; the others have that too, and admins everything. */
export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether a person may do what this role is needed for, or one of these. */
export function mayDo(role: Role, needed: Role | readonly Role[]): boolean {
  const roles: readonly Role[] = typeof needed === 'string' ? [needed] : needed;
  return role === 'admin' || roles.includes('viewer') || roles.includes(role);
}
