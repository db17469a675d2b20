/** What a person may do: viewers read; the others have that too, and admins everything. */
export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function mayDo(role: Role, needed: Role): boolean {
  return needed === 'viewer' || role === needed || role === 'admin';
}
