import { type DuePosition, isBefore, START } from './due-sql.js';

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
/** With so many keys in memory, five times as seldom: what is found late would wait behind those anyway. */
const MANY = 1_000;
const SELDOM = 5;

/** Where this node has come to in one shard. */
export interface ShardReader {
  /** From where to read next; `nowMs` is the database's clock, `known` the keys of the shard that are in memory. */
  position(nowMs: number, known: number): DuePosition;
  /** What was read; `isMore` when it was as much as one reading takes. */
  took(rows: readonly DuePosition[], isMore: boolean): void;
  /** From the start, at the next reading. */
  rewind(): void;
}

export function shardReader(): ShardReader {
  let next = START;
  let furthest = START;
  let fromStart = false;
  const last = AGAIN.map(() => Number.NEGATIVE_INFINITY);
  return {
    position(nowMs, known) {
      const seldom = known > MANY ? SELDOM : 1;
      if (fromStart) next = START;
      fromStart = false;
      AGAIN.forEach(({ everyMs, backMs }, index) => {
        if (nowMs - (last[index] ?? 0) < everyMs * seldom) return;
        last[index] = nowMs;
        const from = nowMs - backMs;
        if (from === Number.NEGATIVE_INFINITY) next = START;
        else if (Date.parse(next.nextAt) > from) next = { ...START, nextAt: new Date(from).toISOString() };
      });
      return next;
    },
    took(rows, isMore) {
      const end = rows.at(-1);
      if (end && isBefore(furthest, end)) furthest = end;
      next = isMore && end ? end : furthest;
    },
    rewind: () => {
      fromStart = true;
    },
  };
}
