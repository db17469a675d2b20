/** How much a long run does: a little in `npm test`, as much as the variable says when somebody has the time. */
export function soakSize(variable: string, usual: number): number {
  const wanted = process.env[variable] ?? '';
  if (wanted === '') return usual;
  if (!/^[1-9]\d{0,6}$/.test(wanted)) throw new Error(`${variable} must be a number from 1 on, not "${wanted}"`);
  return Number(wanted);
}
