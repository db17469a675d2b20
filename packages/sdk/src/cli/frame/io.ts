/** The machine as a command sees it. Tests replace it. */
export interface Io {
  /** Prints one or more lines. */
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the output is a terminal that shows colours. */
  readonly hasColours: boolean;
  readonly pid: number;
  /** Returns a signal that is aborted on SIGINT and SIGTERM. The process then waits for the command to end. */
  watchStop(): AbortSignal;
  readInput(): Promise<string>;
  now(): number;
  /** Replaces the service's timeout for receivers, in tests. */
  readonly pushTimeoutMs?: number;
}

/** The command line is invalid: exit status 2. */
export class UsageError extends Error {
  constructor(
    message: string,
    /** The command or group whose help is shown. Empty: all commands. */
    readonly about: string = '',
  ) {
    super(message);
  }
}

/** The command is valid but failed: exit status 1. */
export class CommandError extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
