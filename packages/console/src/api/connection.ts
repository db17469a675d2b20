/** False if the last request was not answered, or if the browser went offline. */
let isConnected = true;
const listeners = new Set<() => void>();

export function noteConnection(answered: boolean): void {
  if (answered === isConnected) return;
  isConnected = answered;
  for (const listener of listeners) listener();
}

export const getConnection = (): boolean => isConnected;

export function watchConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Listens for `offline`, which comes before a request fails. Does not listen for `online`, because only an answer
 * proves that the service can be reached.
 */
export function watchForLosses(window: Window): void {
  window.addEventListener('offline', () => noteConnection(false));
}
