const NAMES = new Set(['localhost', '127.0.0.1']);

/** Whether a host name is that of the machine itself, in the two spellings that operators type. */
export function isThisMachine(hostname: string): boolean {
  return NAMES.has(hostname);
}
