/**
 * The maximum depth of nesting: deeper than any request, response or event, but not too deep for recursive functions.
 */
const MAX_DEPTH = 64;

/** Thrown for well-formed JSON that is so deeply nested that a traversal could overflow the stack. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
}

/** Parses JSON. Throws a SyntaxError or a TooDeepError. */
export function parseJson(text: string): unknown {
  const value = parse(text);
  if (isDeeperThan(value, MAX_DEPTH)) throw new TooDeepError(`nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Parses JSON in any engine: some engines parse any depth, others throw a RangeError. */
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

/**
 * Writes JSON. Throws a TypeError for a BigInt, NaN or Infinity, and if the value is nested too deeply. As usual,
 * undefined is omitted and a date becomes text.
 */
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
