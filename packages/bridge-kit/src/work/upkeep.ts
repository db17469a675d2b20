import type { Book } from '../book/book.js';
import type { Clock } from '../clock.js';
import type { BridgeLog } from '../log.js';

export interface UpkeepOptions {
  readonly book: Book;
  readonly clock: Clock;
  readonly log: BridgeLog;
  /** For how long the book keeps what came to its end. */
  readonly keepMs: number;
}

const PAUSE_MS = 3_600_000;
/** So few that nobody waits for the locks. */
const DELETED_AT_ONCE = 200;

/** Every hour: deletes what is old, and says what has been open for too long. */
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
    log.warn({ operation: table, open: longOpen, about: oldest }, 'there are numbers without a result for over a day');
  }
}
