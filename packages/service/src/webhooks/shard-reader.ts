import { type DueEvent, type DueKey, type DuePosition, keyOf, START } from './due-sql.js';

/**
 * How often reading begins anew, and from how long ago. A row may be committed late, behind where reading has come to; a
 * statement takes 30 s at most, so none is later than that for long. Far back is seldom: rows that were sent stay in
 * the index until a vacuum, and a long transaction anywhere keeps it away.
 */
const AGAIN = [
  { everyMs: 1_000, backMs: 5_000 },
  { everyMs: 15_000, backMs: 90_000 },
  { everyMs: 300_000, backMs: Number.POSITIVE_INFINITY },
] as const;

/** Where this node has come to in one shard. */
export interface ShardReader {
  /** From where to read next; `nowMs` is the database's clock. */
  position(nowMs: number): DuePosition;
  /** What was read, without what was finished while it was being read. */
  take(rows: readonly DueEvent[]): DueEvent[];
  finished(key: DueKey): void;
  /** From the start, at the next reading. */
  rewind(): void;
}

export function shardReader(): ShardReader {
  let after = START;
  let current = START;
  const last = AGAIN.map(() => Number.NEGATIVE_INFINITY);
  /** Finished since the reading that is under way began: it may still return them. */
  let during = new Set<string>();
  return {
    position(nowMs) {
      during = new Set();
      current = after;
      AGAIN.forEach(({ everyMs, backMs }, index) => {
        if (nowMs - (last[index] ?? 0) < everyMs) return;
        last[index] = nowMs;
        const from = nowMs - backMs;
        if (current !== START && Date.parse(current.nextAt) > from) {
          current = from === Number.NEGATIVE_INFINITY ? START : { ...START, nextAt: new Date(from).toISOString() };
        }
      });
      return current;
    },
    take(rows) {
      after = rows.at(-1) ?? current;
      return rows.filter((row) => !during.has(keyOf(row)));
    },
    finished: (key) => {
      during.add(keyOf(key));
    },
    rewind: () => {
      after = START;
    },
  };
}
