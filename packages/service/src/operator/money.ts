/** Cents as people read them: 19.90. */
export function formatCents(cents: number): string {
  return (cents / 100).toFixed(2);
}
