const NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns true for the host of a URL that is `localhost`, `127.0.0.1` or `[::1]`. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
