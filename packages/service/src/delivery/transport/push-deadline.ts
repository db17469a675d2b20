import { type RunningOut, runningOut } from './running-out.js';

/** The time for a push is over. */
export class Late extends Error {}

/** One for everything that a push does: name, connection, TLS, request and answer. */
export class PushDeadline {
  /** `endsAt` as `performance.now()` has it. */
  constructor(private readonly endsAt: number) {}

  /** Milliseconds. */
  left(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** Leaves off what is being done, and says so to whoever waits for it. */
  stop: () => void = () => undefined;

  /** One thing right after another. `begin` says how to leave off what it began, should the time be over first. */
  run<Result>(
    begin: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const leaveOff = begin(resolve, reject);
      this.stop = () => {
        reject(new Late());
        leaveOff();
      };
    });
  }
}

export function pushDeadlines(ms: number): RunningOut<PushDeadline> {
  return runningOut(ms, (deadline) => deadline.stop());
}
