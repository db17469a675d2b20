/** True if the last request was answered. */
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

/** The browser reports a lost connection early. A regained one counts only once a request is answered. */
export function watchForLosses(window: Window): void {
  window.addEventListener('offline', () => noteConnection(false));
}
