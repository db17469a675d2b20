import { type DuePosition, isBefore, positionAt, type ShardPart, START } from '../queue/due-sql.js';

/**
 * The interval of each look-back, and how far back it rereads. A row can be committed late, behind the position up to
 * which the node has read. A statement takes at most 30 s, so few rows are later than that. Long look-backs are rare,
 * because they reread pushed rows, which stay in the index until a vacuum. Any long transaction delays the vacuum.
 */
const LOOK_BACKS = [
  { everyMs: 1_000, backMs: 5_000 },
  { everyMs: 15_000, backMs: 90_000 },
  { everyMs: 300_000, backMs: Number.POSITIVE_INFINITY },
] as const;
/**
 * If a read skipped some kinds and reached the last due row, the next read starts at the last row of that read, or 2 s
 * before the time of that read, whichever is later. Rows due in these 2 s may be read twice.
 */
const SKIPPED_MARGIN_MS = 2_000;

/** The start of a read by the database's clock, and the oldest transaction that was running then. */
export interface Moment {
  readonly at: number;
  readonly horizon: string;
}

export interface ReadPart extends Omit<ShardPart, 'shard'> {
  /** Reports the rows that were read. `isMore`: the page was full. */
  wasRead(rows: readonly DuePosition[], isMore: boolean): void;
}

/** Tracks how far this node has read one shard. */
export function createShardCursor() {
  let front = START;
  let isCatchingUp = false;
  let timesRewound = 0;
  const lookBacks = LOOK_BACKS.map(createLookBack);

  function frontPart({ at, horizon }: Moment, isSkipping: boolean): ReadPart {
    const timesRewoundBefore = timesRewound;
    const after = front;
    return {
      after,
      until: null,
      since: null,
      wasRead(rows, isMore) {
        if (timesRewoundBefore !== timesRewound) return;
        isCatchingUp = isMore;
        front = rows.at(-1) ?? front;
        if (isSkipping && !isMore) front = laterOf(front, positionAt(at - SKIPPED_MARGIN_MS));
        if (front !== after) for (const lookBack of lookBacks) lookBack.frontMoved(after, horizon);
      },
    };
  }

  return {
    /** Returns true if much is left to read. The read should then skip the kinds whose lanes read for themselves. */
    isBehind: (): boolean => isCatchingUp || lookBacks.some((lookBack) => lookBack.isReadingAll()),
    /**
     * Returns the parts to read next: a page of each look-back that is due or unfinished, then the new rows. `moment`
     * must not be later than the read. `isSkipping`: the read skips some kinds.
     */
    nextParts(moment: Moment, isSkipping: boolean = false): ReadPart[] {
      for (const lookBack of lookBacks) lookBack.beginIfDue(moment, front);
      return [...lookBacks.flatMap((lookBack) => lookBack.parts()), frontPart(moment, isSkipping)];
    },
    rewind(): void {
      timesRewound += 1;
      front = START;
    },
  };
}

export type ShardCursor = ReturnType<typeof createShardCursor>;

/**
 * Finds rows that were committed late, after the last look-back. Recognises them by their transaction, so that it does
 * not reread a backlog each time. Only the longest look-back reads every row, to find rows that were missed for an
 * unforeseen reason.
 */
function createLookBack({ everyMs, backMs }: (typeof LOOK_BACKS)[number]) {
  const isFurthest = backMs === Number.POSITIVE_INFINITY;
  let last: Moment | undefined;
  /**
   * Describes the first read of new rows since `last` was set: the position where it began, and the oldest transaction
   * that was running at that moment.
   */
  let read: { readonly from: DuePosition; readonly horizon: string } | undefined;
  let unread: Omit<ReadPart, 'wasRead'>[] = [];

  function beginIfDue(moment: Moment, front: DuePosition): void {
    if (unread.length > 0 || (last && moment.at - last.at < everyMs)) return;
    const until = front.nextAt;
    // The first call looks back at nothing: no row was read before it, so it cannot have missed a late row.
    if (last && isFurthest) unread = [{ after: START, until, since: null }];
    else if (last) {
      const from = positionAt(last.at - backMs);
      unread = [{ after: from, until: read?.from.nextAt ?? until, since: last.horizon }];
      if (read) unread.push({ after: laterOf(read.from, from), until, since: read.horizon });
    }
    last = moment;
    read = undefined;
  }

  return {
    beginIfDue,
    frontMoved(from: DuePosition, horizon: string): void {
      read ??= { from, horizon };
    },
    isReadingAll: () => isFurthest && unread.length > 0,
    parts: (): ReadPart[] =>
      unread.map((part) => ({
        ...part,
        wasRead(rows, isMore) {
          const end = rows.at(-1);
          const rest = isMore && end ? [{ ...part, after: end }] : [];
          unread = unread.flatMap((one) => (one === part ? rest : [one]));
        },
      })),
  };
}

const laterOf = (one: DuePosition, other: DuePosition): DuePosition => (isBefore(one, other) ? other : one);
