export const systemNow = (): number => Date.now();

/** Returns the time of a clock that the SDK's user may have supplied. Throws unless it returns a number. */
export function readClock(now: () => unknown): number {
  const time = now();
  if (typeof time === 'number' && Number.isFinite(time)) return Math.trunc(time);
  throw new TypeError('now must return Unix milliseconds as a number');
}

/** Waits. Rejects early, with the signal's reason, if the caller aborts. */
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

/** Returns the promise's result. Rejects with the signal's reason if the caller aborts first. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
