const NAMES = new Set(['localhost', '127.0.0.1']);

/** Returns true if the host is this machine, in one of the usual spellings. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
