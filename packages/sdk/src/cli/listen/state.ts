import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatTime, parseTime } from '@perennial/wire';
import type { ChannelCredentials } from '../channel-file.js';
import { CommandError } from '../frame/io.js';

/** A seen event. Identified by number and time, because a recreated database may use a number again. */
export interface Known {
  readonly eventId: string;
  readonly writtenAt: string;
}

/**
 * How long a written event may stay invisible to a poll. A statement that writes events takes at most half of this time
 * (docs/decisions/0031).
 */
const OVERLAP_MS = 60_000;

/** The first line of the file: a complete snapshot. */
interface Stored {
  readonly from: string;
  readonly forwarded: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
}

/** Each further line: one push that was answered after the snapshot. */
interface Settled extends Known {
  readonly isAccepted: boolean;
}

/**
 * A listener's progress: the time from which it polls, and the events that it has seen after that time. Each push only
 * appends a line, because rewriting the file each time would take quadratic time. When the backlog is done, a new
 * snapshot replaces the file.
 */
export class ListenState {
  private constructor(
    private readonly file: string,
    public from: string,
    private readonly forwarded: Map<string, string>,
    private readonly refused: Map<string, string>,
  ) {}

  /** Reads the state. Returns undefined if the file does not exist. */
  static read(file: string): ListenState | undefined {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
    }
    // Drops the text after the last line break: a line that a crash left incomplete. Its push is sent again.
    const [first = '', ...others] = text.split('\n').slice(0, -1);
    try {
      const { from, forwarded, refused } = JSON.parse(first) as Stored;
      if (parseTime(from) === undefined) throw new Error('no time');
      const state = new ListenState(file, from, new Map(Object.entries(forwarded)), new Map(Object.entries(refused)));
      for (const line of others) state.apply(JSON.parse(line) as Settled);
      return state;
    } catch {
      throw new CommandError(`${file} is not a state file of listen: delete it, or name another file with --state`);
    }
  }

  static begin(file: string, from: string): ListenState {
    return new ListenState(file, from, new Map(), new Map());
  }

  has({ eventId, writtenAt }: Known): boolean {
    return this.forwarded.get(eventId) === writtenAt;
  }

  /** Marks an event as seen, because it was forwarded or must not be forwarded. */
  add({ eventId, writtenAt }: Known): void {
    this.forwarded.set(eventId, writtenAt);
  }

  /** Records that a push was answered. When this returns, the record is in the file. The push is not sent
   * again, unless it was refused and `--again` is given. */
  settle({ eventId, writtenAt }: Known, isAccepted: boolean): void {
    const settled: Settled = { eventId, writtenAt, isAccepted };
    this.apply(settled);
    this.store(() => appendFileSync(this.file, `${JSON.stringify(settled)}\n`));
  }

  private apply({ isAccepted, ...push }: Settled): void {
    this.add(push);
    if (isAccepted) this.refused.delete(push.eventId);
    else this.refused.set(push.eventId, push.writtenAt);
  }

  listRefused(): Known[] {
    return [...this.refused].map(([eventId, writtenAt]) => ({ eventId, writtenAt }));
  }

  /** Moves the position to `writtenBefore`, but not beyond the events that may have been invisible at `readAt`. */
  advance(writtenBefore: string, readAt: string): void {
    const safe = overlapBefore(readAt);
    const next = writtenBefore < safe ? writtenBefore : safe;
    if (next <= this.from) return;
    this.from = next;
    for (const [eventId, writtenAt] of this.forwarded) if (writtenAt < next) this.forwarded.delete(eventId);
  }

  /** Replaces the file atomically, so that the previous version stays if the process is killed. */
  write(): void {
    const stored: Stored = {
      from: this.from,
      forwarded: Object.fromEntries(this.forwarded),
      refused: Object.fromEntries(this.refused),
    };
    const draft = `${this.file}.new`;
    this.store(() => {
      writeFileSync(draft, `${JSON.stringify(stored)}\n`, { mode: 0o600 });
      renameSync(draft, this.file);
    });
  }

  private store(write: () => void): void {
    try {
      write();
    } catch (error) {
      throw new CommandError(`${this.file} cannot be written: ${(error as Error).message}`);
    }
  }
}

/** Returns the time from which to poll, so that events that were still invisible at `readAt` are found too. */
export const overlapBefore = (readAt: string): string => formatTime((parseTime(readAt) ?? 0) - OVERLAP_MS);

/** Returns the state file's path, beside the channel's file if there is one. Each receiver URL has its own file. */
export function stateFileFor({ file, appId }: ChannelCredentials, url: URL): string {
  const address = createHash('sha256').update(url.href).digest('hex').slice(0, 12);
  return path.join(file === undefined ? '.' : path.dirname(file), `.listen-${appId}-${address}.json`);
}
