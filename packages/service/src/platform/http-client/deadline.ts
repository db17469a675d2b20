export class DeadlinePassed extends Error {}

/** One deadline for everything that a call does: name, connection, TLS, request and answer. */
export class Deadline {
  /** `endsAt` is a time of `performance.now()`. */
  constructor(private readonly endsAt: number) {}

  remainingMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** Called once the time is over: cancels the step that is being done, and tells whoever waits for it why. */
  cancelStep: (why: Error) => void = () => undefined;

  /** Does one step of the call. `begin` returns how to cancel what it began. */
  runStep<Result>(
    begin: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const cancel = begin(resolve, reject);
      this.cancelStep = (why) => {
        reject(why);
        cancel();
      };
    });
  }
}
