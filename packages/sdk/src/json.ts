/** More than any request, answer or event has. Whatever goes through a value by calling itself can go so deep. */
const MAX_DEPTH = 64;

/** Well-formed, but nested so deeply that going through it would end the stack. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
}

/** Throws a SyntaxError or a TooDeepError. */
export function parseJson(text: string): unknown {
  const value = parse(text);
  if (isDeeperThan(value, MAX_DEPTH)) throw new TooDeepError(`nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Some engines have no end of the stack in JSON.parse, others say it by a RangeError. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof RangeError ? new TooDeepError('nested too deeply') : error;
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Throws a TypeError for what JSON has no form for, where it would write something else or say less. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value, requireForm);
  } catch (error) {
    throw error instanceof RangeError ? new TypeError('the body is nested too deeply') : error;
  }
}

function requireForm(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') throw new TypeError(`${name} must not be a BigInt: JSON has none`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} must not be ${value}`);
  return value;
}
