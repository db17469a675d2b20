/** Whether this is one of `npm run prove`. */
export const isProof = process.env['LONG_RUNS'] !== undefined;
/** Whether it is a whole one, without --short: what else is done in part is done as a whole. */
export const isLongRun = process.env['LONG_RUNS'] === 'on';

/**
 * How much a long run does: in `npm test` and with --short enough for each of its faults to happen, in `npm run prove -- crash` as much as it
 * takes to trust it, and as much as its variable says when somebody has the time.
 */
export function soakSize(variable: string, inTests: number, proven = inTests): number {
  const wanted = process.env[variable] ?? '';
  if (wanted === '') return isLongRun ? proven : inTests;
  if (!/^[1-9]\d{0,6}$/.test(wanted)) throw new Error(`${variable} must be a number from 1 on, not "${wanted}"`);
  return Number(wanted);
}
