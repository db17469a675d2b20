const NAMES = new Set(['localhost', '127.0.0.1']);

/** Returns true for `localhost` and `127.0.0.1`. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
