/** What a person may do: viewers read; the others have that too, and admins everything. */
export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** One role, or several of which one is enough. */
export type NeededRole = Role | readonly Role[];

export function mayDo(role: Role, needed: NeededRole): boolean {
  const enough: readonly Role[] = typeof needed === 'string' ? [needed] : needed;
  return role === 'admin' || enough.includes('viewer') || enough.includes(role);
}
