/** Whether the service answers, by what became of the last request. */
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

/** The browser knows of some losses before a request does. That it is back is known once a request is answered. */
export function watchForLosses(window: Window): void {
  window.addEventListener('offline', () => noteConnection(false));
}
