/** A promise that is settled from outside. */
export interface Pending<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

/** Promise.withResolvers, which Node 20 does not have. A rejection that nobody waits for yet is no bug. */
export function createPending<T>(): Pending<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
