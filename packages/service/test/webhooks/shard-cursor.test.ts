import { describe, expect, it } from 'vitest';
import { createShardCursor, type ReadPart } from '../../src/delivery/dispatcher/shard-cursor.js';
import { type DuePosition, isBefore, positionAt } from '../../src/delivery/queue/due-sql.js';

const NOW = Date.UTC(2026, 10, 15, 4, 0, 0);
const PAGE = 100;

interface Row extends DuePosition {
  /** Milliseconds since NOW. */
  readonly committedAt: number;
  /** Milliseconds since NOW. The rows' transactions are numbered by this time. */
  readonly writtenAt: number;
}

const row = (writtenAt: number, committedAt = writtenAt, eventNo = 1): Row => ({
  ...positionAt(NOW + writtenAt),
  eventNo,
  writtenAt,
  committedAt,
});

/**
 * Reads these rows as the engine does, ten times a second, for `ms` milliseconds. Returns when each row was first read,
 * and how many rows were read in total.
 */
function readFor(rows: readonly Row[], ms: number) {
  const cursor = createShardCursor();
  const table = rows.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
  const late = table.filter(({ writtenAt, committedAt }) => committedAt > writtenAt);
  const foundAt = new Map<Row, number>();
  let sent = 0;
  for (let at = 0; at <= ms; at += 100) {
    for (const part of cursor.nextParts({ at: NOW + at, horizon: String(horizon(late, at)) })) {
      const page = pageOf(table, part, at);
      for (const one of page) if (!foundAt.has(one)) foundAt.set(one, at);
      part.wasRead(page, page.length === PAGE);
      sent += page.length;
    }
  }
  return { foundAt, sent };
}

/** Returns the time of the first row that is written but not yet committed, or `at` if there is none. */
const horizon = (late: readonly Row[], at: number): number =>
  late.find(({ writtenAt, committedAt }) => writtenAt <= at && committedAt > at)?.writtenAt ?? at;

function pageOf(table: readonly Row[], { after, until, since }: ReadPart, at: number): Row[] {
  const page: Row[] = [];
  for (let index = table.length - 1; index >= 0; index -= 1) {
    const one = table[index];
    if (!one || !isBefore(after, one)) break;
    const isIn = (until === null || one.nextAt <= until) && (since === null || one.writtenAt >= Number(since));
    if (one.committedAt <= at && isIn) page.push(one);
  }
  return page.toReversed().slice(0, PAGE);
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a late commit', () => {
  it.each([5, 200, 1_000, 4_900])('of %i ms is found within about a second, whatever else waits', (late) => {
    const backlog = range(500).map((index) => row(-10_000, -10_000, index + 1));
    // Adds new rows all the time, so that the read position always advances. No row is removed.
    const prompt = range(300).map((index) => row(index * 100 + 50));
    const tardy = range(97).map((index) => row(1_000 + index * 211, 1_000 + index * 211 + late));
    const { foundAt } = readFor([...backlog, ...prompt, ...tardy], 30_000);
    expect(foundAt.size).toBe(500 + 300 + 97);
    const delays = tardy.map((one) => (foundAt.get(one) ?? 0) - one.committedAt);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_200);
  });

  it('of a minute is found within 15 seconds, and a later one within 5 minutes', () => {
    const prompt = range(400).map((index) => row(index * 1_000 + 50));
    const minute = row(1_011, 61_011);
    const quarter = row(1_012, 200_012);
    const { foundAt } = readFor([...prompt, minute, quarter], 400_000);
    expect(foundAt.get(minute)).toBeLessThanOrEqual(61_011 + 15_100);
    expect(foundAt.get(quarter)).toBeLessThanOrEqual(300_200);
  });
});

describe('a backlog', () => {
  it('is read once, and again every five minutes', () => {
    const backlog = range(2_000).map((index) => row(-2_000, -2_000, index + 1));
    expect(readFor(backlog, 60_000).sent).toBe(2_000);
    expect(readFor(backlog, 310_000).sent).toBe(4_000);
  });

  it('that is written at once, while a node is blocked, is read once', () => {
    const burst = range(2_000).map((index) => row(20_050, 20_050, index + 1));
    expect(readFor(burst, 60_000).sent).toBe(2_000);
  });

  it('that is written during reads is read at most once by each kind of look-back', () => {
    const backlog = range(2_000).map((index) => row(index * 5, index * 5, index + 1));
    expect(readFor(backlog, 60_000).sent).toBeLessThanOrEqual(3 * 2_000);
  });
});
