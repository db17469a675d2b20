export class DeadlinePassed extends Error {}

/** One deadline for all steps of a call: resolving the name, connecting, TLS, request and answer. */
export class Deadline {
  /** `endsAt` is a time of performance.now(). */
  constructor(private readonly endsAt: number) {}

  remainingMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /**
   * Cancels the current step and rejects it with `why`. Called when the deadline has passed, or the client is closed.
   */
  cancelStep: (why: Error) => void = () => undefined;

  /** Runs one step of the call. `begin` starts the step and returns a function that cancels it. */
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
