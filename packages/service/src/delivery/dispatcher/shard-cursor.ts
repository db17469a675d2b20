import { type DuePosition, isBefore, positionAt, type ShardPart, START } from '../queue/due-sql.js';

/**
 * How often reading looks back, and how far before the last time. A row may be committed late, behind the position that has
 * been read; a statement takes 30 s at most, so few rows are later than that. Far back is seldom looked: rows that were
 * pushed stay in the index until a vacuum, which any long transaction delays.
 */
const LOOK_BACKS = [
  { everyMs: 1_000, backMs: 5_000 },
  { everyMs: 15_000, backMs: 90_000 },
  { everyMs: 300_000, backMs: Number.POSITIVE_INFINITY },
] as const;
/** After a read that skipped some kinds, reading goes on so long before now: only what is younger is looked through twice. */
const SKIPPED_MARGIN_MS = 2_000;

/** When a read began, by the database's clock, and the oldest transaction that was not over then. */
export interface Moment {
  readonly at: number;
  readonly horizon: string;
}

export interface ReadPart extends Omit<ShardPart, 'shard'> {
  /** Tells the cursor what was read of it. `isMore`: the page was full. */
  wasRead(rows: readonly DuePosition[], isMore: boolean): void;
}

/** How far this node has read one shard. */
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
    /** Much is waiting to be read: kinds that read for themselves are better skipped. */
    isBehind: (): boolean => isCatchingUp || lookBacks.some((lookBack) => lookBack.isReadingAll()),
    /**
     * What to read next: a page of each look back that is due or not finished, and then what is new. `moment` is no later than
     * the read. `isSkipping`: some kinds are skipped by it.
     */
    nextParts(moment: Moment, isSkipping: boolean = false): ReadPart[] {
      for (const lookBack of lookBacks) lookBack.beginIfDue(moment, front);
      return [...lookBacks.flatMap((lookBack) => lookBack.parts()), frontPart(moment, isSkipping)];
    },
    /** The next read begins at the start. */
    rewind(): void {
      timesRewound += 1;
      front = START;
    },
  };
}

export type ShardCursor = ReturnType<typeof createShardCursor>;

/**
 * A look back finds what was committed since the last one, and tells it by its transaction from what was read before. So a
 * backlog is not read again each time. Only the furthest look takes everything, whenever it was written: it finds what was
 * missed for a reason that nobody has foreseen.
 */
function createLookBack({ everyMs, backMs }: (typeof LOOK_BACKS)[number]) {
  const isFurthest = backMs === Number.POSITIVE_INFINITY;
  let last: Moment | undefined;
  /** Where the front was before it moved since then, and the oldest transaction that was not over when it first did. */
  let read: { readonly from: DuePosition; readonly horizon: string } | undefined;
  let unread: Omit<ReadPart, 'wasRead'>[] = [];

  function beginIfDue(moment: Moment, front: DuePosition): void {
    if (unread.length > 0 || (last && moment.at - last.at < everyMs)) return;
    const until = front.nextAt;
    // The first time nothing has been read before, so nothing can be behind.
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
