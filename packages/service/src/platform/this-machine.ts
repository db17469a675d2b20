const NAMES = new Set(['localhost', '127.0.0.1']);

/** Returns true if a host name is that of this machine, in the two usual spellings. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
