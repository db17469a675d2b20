/** What a person may do: viewers read; the others have that too, and admins everything. */
export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** `needed`: one role, or several of which each may. */
export function mayDo(role: Role, needed: Role | readonly Role[]): boolean {
  const allowed: readonly Role[] = typeof needed === 'string' ? [needed] : needed;
  return role === 'admin' || allowed.includes('viewer') || allowed.includes(role);
}
