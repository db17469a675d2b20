/**
 * Returns an idempotency key. The page creates it once and sends it with each retry, so that a double click or a retry
 * after a lost answer is the same request. (randomUUID exists only over HTTPS and on localhost.)
 */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
