import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatTime, parseTime } from '@perennial/wire';
import type { ChannelCredentials } from '../channel-file.js';
import { CommandError } from '../frame/io.js';

/** An event with its time of writing, because a recreated database may reuse its number. */
export interface Known {
  readonly eventId: string;
  readonly writtenAt: string;
}

/** How long a written event may stay invisible. Statements take at most half of it (docs/decisions/0031). */
const OVERLAP_MS = 60_000;

/** The first line of the file: a complete snapshot. */
interface Stored {
  readonly from: string;
  readonly forwarded: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
}

/** Every further line: one push that was answered since the snapshot. */
interface Settled extends Known {
  readonly isAccepted: boolean;
}

/**
 * A listener's progress: the time to poll from, and the events seen since. Each push appends a line, because rewriting
 * the file per push would take quadratic time. The snapshot is rewritten once the backlog is done.
 */
export class ListenState {
  private constructor(
    private readonly file: string,
    public from: string,
    private readonly forwarded: Map<string, string>,
    private readonly refused: Map<string, string>,
  ) {}

  /** Returns undefined if the file does not exist. */
  static read(file: string): ListenState | undefined {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
    }
    // A crash may have cut off the text after the last line break. That push is sent again.
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

  /** Marks an event as forwarded or as not wanted. */
  add({ eventId, writtenAt }: Known): void {
    this.forwarded.set(eventId, writtenAt);
  }

  /** Records a push that was answered. On return it is on disk and is not sent again. */
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

  /** Moves the position: all events written before and visible at `readAt` are processed. */
  advance(writtenBefore: string, readAt: string): void {
    const safe = overlapBefore(readAt);
    const next = writtenBefore < safe ? writtenBefore : safe;
    if (next <= this.from) return;
    this.from = next;
    for (const [eventId, writtenAt] of this.forwarded) if (writtenAt < next) this.forwarded.delete(eventId);
  }

  /** Replaces the file atomically, so that a killed process leaves the previous version. */
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

/** Returns the time from which a listener that starts now has to poll. */
export const overlapBefore = (readAt: string): string => formatTime((parseTime(readAt) ?? 0) - OVERLAP_MS);

/** Returns a path beside the channel's file, one per receiver URL. */
export function stateFileFor({ file, appId }: ChannelCredentials, url: URL): string {
  const address = createHash('sha256').update(url.href).digest('hex').slice(0, 12);
  return path.join(file === undefined ? '.' : path.dirname(file), `.listen-${appId}-${address}.json`);
}
