/** The parts of the operating system that a command uses. Tests replace them. */
export interface Io {
  /** Prints one or more lines. */
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if the output is a terminal that shows colours. */
  readonly hasColours: boolean;
  readonly pid: number;
  /** Returns an AbortSignal that aborts on SIGINT or SIGTERM. The process then waits until the command ends. */
  watchStop(): AbortSignal;
  readInput(): Promise<string>;
  now(): number;
  /** Set only by tests: the timeout for receivers, instead of the service's timeout. */
  readonly pushTimeoutMs?: number;
}

/** Thrown if the command line is invalid: exit status 2. */
export class UsageError extends Error {
  constructor(
    message: string,
    /** The command or group whose help the message names. Empty means the help of all commands. */
    readonly about: string = '',
  ) {
    super(message);
  }
}

/** Thrown if a valid command fails: exit status 1. */
export class CommandError extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
