/** Whether this run is part of `npm run prove`. */
export const isProof = process.env['LONG_RUNS'] !== undefined;
/** Whether this run is a complete proof, without --short. Some tests then check everything instead of a part. */
export const isLongRun = process.env['LONG_RUNS'] === 'on';

/**
 * Returns the number of items in a long test. In `npm test` and with --short, the number is enough for each fault to
 * happen. In `npm run prove -- crash` it is enough to trust the result. If the environment variable that `variable`
 * names is set, its value is the number.
 */
export function soakSize(variable: string, inTests: number, proven = inTests): number {
  const wanted = process.env[variable] ?? '';
  if (wanted === '') return isLongRun ? proven : inTests;
  if (!/^[1-9]\d{0,6}$/.test(wanted)) throw new Error(`${variable} must be a number from 1 on, not "${wanted}"`);
  return Number(wanted);
}
