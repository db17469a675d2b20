export const systemNow = (): number => Date.now();

/** The time by a clock that may be the caller's own: one that tells no time is not to be taken for a fault of the other side. */
export function readClock(now: () => unknown): number {
  const time = now();
  if (typeof time === 'number' && Number.isFinite(time)) return Math.trunc(time);
  throw new TypeError('now must give Unix milliseconds, as a number');
}

/** Ends early, with the signal's reason, when the caller gives up. */
export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** What comes of it, unless the caller gives up before. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
