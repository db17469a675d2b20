import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatTime, parseTime } from '@perennial/wire';
import type { ChannelCredentials } from '../channel-file.js';
import { CommandError } from '../frame/io.js';

/** An event, and when it was written: after the database was made anew, another may have the same number. */
export interface Known {
  readonly eventId: string;
  readonly writtenAt: string;
}

/**
 * How long before it was read an event may have been written and not be seen yet: no statement of the service takes longer than
 * half of it (docs/decisions/0031).
 */
const OVERLAP_MS = 60_000;

/** The first line of the file: how things stood when it was written as a whole. */
interface Stored {
  readonly from: string;
  readonly forwarded: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
}

/** Each further line: one push that was answered since then. */
interface Settled extends Known {
  readonly isAccepted: boolean;
}

/**
 * How far a listener has come: from when to ask again, and what it has had since then. Writing all of it after each push would cost
 * the square of a back-log; so a push adds a line, and the whole is written anew when the back-log is done.
 */
export class ListenState {
  private constructor(
    private readonly file: string,
    public from: string,
    private readonly forwarded: Map<string, string>,
    private readonly refused: Map<string, string>,
  ) {}

  /** Undefined when there is no such file. */
  static read(file: string): ListenState | undefined {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
    }
    // What stands behind the last line break was cut off by a crash: that push is sent again.
    const [first = '', ...others] = text.split('\n').slice(0, -1);
    try {
      const { from, forwarded, refused } = JSON.parse(first) as Stored;
      if (parseTime(from) === undefined) throw new Error('no time');
      const state = new ListenState(file, from, new Map(Object.entries(forwarded)), new Map(Object.entries(refused)));
      for (const line of others) state.apply(JSON.parse(line) as Settled);
      return state;
    } catch {
      throw new CommandError(`${file} is no state of listen: delete it, or name another with --state`);
    }
  }

  static begin(file: string, from: string): ListenState {
    return new ListenState(file, from, new Map(), new Map());
  }

  has({ eventId, writtenAt }: Known): boolean {
    return this.forwarded.get(eventId) === writtenAt;
  }

  /** Was forwarded, or is not wanted. */
  add({ eventId, writtenAt }: Known): void {
    this.forwarded.set(eventId, writtenAt);
  }

  /** A push was answered. When this returns, it is on the disk and is not sent again. */
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

  /** Everything that was written before, and could be seen when this was read, is dealt with. */
  advance(writtenBefore: string, readAt: string): void {
    const safe = overlapBefore(readAt);
    const next = writtenBefore < safe ? writtenBefore : safe;
    if (next <= this.from) return;
    this.from = next;
    for (const [eventId, writtenAt] of this.forwarded) if (writtenAt < next) this.forwarded.delete(eventId);
  }

  /** Whole or not at all, so that whoever is killed while it writes leaves the file as it was. */
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

/** From the time that a listener which begins now has to ask from. */
export const overlapBefore = (readAt: string): string => formatTime((parseTime(readAt) ?? 0) - OVERLAP_MS);

/** Beside the channel's file, one for each address. */
export function stateFileFor({ file, appId }: ChannelCredentials, url: URL): string {
  const address = createHash('sha256').update(url.href).digest('hex').slice(0, 12);
  return path.join(file === undefined ? '.' : path.dirname(file), `.listen-${appId}-${address}.json`);
}
