import type { Book } from '../book/book.js';
import type { Clock } from '../clock.js';
import type { BridgeLog } from '../log.js';

export interface UpkeepOptions {
  readonly book: Book;
  readonly clock: Clock;
  readonly log: BridgeLog;
  /** How long the book keeps settled numbers and accepted notices. */
  readonly keepMs: number;
}

const PAUSE_MS = 3_600_000;
/**
 * The maximum number of rows per table that are deleted at once. It is small, so that no request waits long for their
 * locks.
 */
const DELETED_AT_ONCE = 200;

/** Deletes old records every hour, and logs numbers that have had no result for too long. */
export function createUpkeep({ book, clock, log, keepMs }: UpkeepOptions): () => Promise<boolean> {
  let dueAt = 0;
  return async () => {
    const now = clock.now();
    if (now < dueAt) return false;
    if (await book.deleteOld(now - keepMs, DELETED_AT_ONCE)) return true;
    await sayLongOpen(book, now, log);
    dueAt = now + PAUSE_MS;
    return false;
  };
}

async function sayLongOpen(book: Book, now: number, log: BridgeLog): Promise<void> {
  for (const table of ['debits', 'refunds'] as const) {
    const { longOpen, oldest } = await book[table].countOpen(now);
    if (longOpen === 0 || oldest === undefined) continue;
    log.warn(
      { operation: table, open: longOpen, about: oldest },
      'numbers have been without a result for more than a day',
    );
  }
}
