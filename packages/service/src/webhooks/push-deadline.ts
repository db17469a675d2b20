/** The time for a push is over. */
export class Late extends Error {}

/** One for everything that a push does: name, connection, TLS, request and answer. */
export interface PushDeadline {
  /** One thing right after another. `begin` says how to leave off what it began, should the time be over first. */
  run<Result>(
    begin: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<Result>;
  /** All is done in time. */
  clear(): void;
}

export function pushDeadline(ms: number): PushDeadline {
  let stop: () => void = () => undefined;
  const timer = setTimeout(() => stop(), ms);
  return {
    run: (begin) =>
      new Promise((resolve, reject) => {
        const leaveOff = begin(resolve, reject);
        stop = () => {
          reject(new Late());
          leaveOff();
        };
      }),
    clear: () => clearTimeout(timer),
  };
}
