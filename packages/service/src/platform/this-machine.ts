const NAMES = new Set(['localhost', '127.0.0.1']);

/** Returns true for the two usual names of this machine. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
