/** What a command has of the machine: tests give it another one. */
export interface Io {
  /** One line, or several. */
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether people look at what is printed, on something that shows colours. */
  readonly hasColours: boolean;
  readonly pid: number;
  /** From now on the program does not end at once when it is told to: this is aborted, and the command ends by itself. */
  watchStop(): AbortSignal;
  readInput(): Promise<string>;
  /** Unix milliseconds. */
  now(): number;
  /** How long a receiver may take, in place of what the service waits. For tests. */
  readonly pushTimeoutMs?: number;
}

/** The command cannot be understood: exit status 2. */
export class UsageError extends Error {
  constructor(
    message: string,
    /** The command, or the words of a group, whose help tells more. Empty: all commands. */
    readonly about: string = '',
  ) {
    super(message);
  }
}

/** It was understood and cannot be done: exit status 1. */
export class CommandError extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
