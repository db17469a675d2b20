/**
 * A key for a request that must not be done twice. The page makes it once and sends it with each try, so that a second press,
 * or a try after an answer that got lost, is the same request. (randomUUID is only there over HTTPS and on this machine.)
 */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
