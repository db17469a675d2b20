import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
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

interface Stored {
  readonly from: string;
  readonly forwarded: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
}

/** How far a listener has come: from when to ask again, and what it has had since then. */
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
    try {
      const { from, forwarded, refused } = JSON.parse(text) as Stored;
      if (parseTime(from) === undefined) throw new Error('no time');
      return new ListenState(file, from, new Map(Object.entries(forwarded)), new Map(Object.entries(refused)));
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

  addRefused({ eventId, writtenAt }: Known): void {
    this.refused.set(eventId, writtenAt);
  }

  forgetRefused({ eventId }: Pick<Known, 'eventId'>): void {
    this.refused.delete(eventId);
  }

  listRefused(): Known[] {
    return [...this.refused].map(([eventId, writtenAt]) => ({ eventId, writtenAt }));
  }

  /** Everything that was written before, and could be seen when this was read, is dealt with. */
  advance(writtenBefore: string, readAt: string): void {
    const safe = formatTime((parseTime(readAt) ?? 0) - OVERLAP_MS);
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
    try {
      writeFileSync(draft, `${JSON.stringify(stored)}\n`, { mode: 0o600 });
      renameSync(draft, this.file);
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
