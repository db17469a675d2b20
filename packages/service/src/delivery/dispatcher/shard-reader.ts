import { type DuePosition, isBefore, positionAt, type ShardPart, START } from '../queue/due-sql.js';

/**
 * How often it looks back, and to how long before the last time. A row may be committed late, behind where reading has come
 * to; a statement takes 30 s at most, so few are later than that. Far back is seldom: rows that were sent stay in the index
 * until a vacuum, and a long transaction anywhere keeps it away.
 */
const LOOKS = [
  { everyMs: 1_000, backMs: 5_000 },
  { everyMs: 15_000, backMs: 90_000 },
  { everyMs: 300_000, backMs: Number.POSITIVE_INFINITY },
] as const;
/** Where reading goes on after some kinds were spared: nothing of these is looked through twice but what is younger. */
const SETTLED_MS = 2_000;

/** When a reading began, by the database's clock, and the oldest transaction that was not over then. */
export interface Moment {
  readonly at: number;
  readonly horizon: string;
}

export interface Part extends Omit<ShardPart, 'shard'> {
  /** What was read of it, and is in good hands; `isMore` when it was as much as one reading takes. */
  took(rows: readonly DuePosition[], isMore: boolean): void;
}

/** Where this node has come to in one shard. */
export interface ShardReader {
  /** Much is waiting to be read: those that read for themselves are better spared. */
  isBehind(): boolean;
  /**
   * What to read next, at a moment that is no later than the reading: a page of each look back that is due or under way, and
   * then what has come since. `isSparing` when some kinds are spared.
   */
  parts(moment: Moment, isSparing?: boolean): Part[];
  /** From the start, at the next reading. */
  rewind(): void;
}

export function shardReader(): ShardReader {
  let front = START;
  let isCatchingUp = false;
  let rewound = 0;
  const looks = LOOKS.map(lookingBack);

  function frontPart({ at, horizon }: Moment, isSparing: boolean): Part {
    const begun = rewound;
    const after = front;
    return {
      after,
      until: null,
      since: null,
      took(rows, isMore) {
        if (begun !== rewound) return;
        isCatchingUp = isMore;
        front = rows.at(-1) ?? front;
        if (isSparing && !isMore) front = laterOf(front, positionAt(at - SETTLED_MS));
        if (front !== after) for (const look of looks) look.passed(after, horizon);
      },
    };
  }

  return {
    isBehind: () => isCatchingUp || looks.some((look) => look.isOfAll()),
    parts(moment, isSparing = false) {
      for (const look of looks) look.beginIfDue(moment, front);
      return [...looks.flatMap((look) => look.parts()), frontPart(moment, isSparing)];
    },
    rewind() {
      rewound += 1;
      front = START;
    },
  };
}

/**
 * One of the ways to look back: it finds what was committed since the last time, and by its transaction it knows that from
 * what was read before. So a backlog is not read again each time. The furthest look alone takes everything, whenever it was
 * written: it is there for what was lost in a way that nobody thought of.
 */
function lookingBack({ everyMs, backMs }: (typeof LOOKS)[number]) {
  const isFurthest = backMs === Number.POSITIVE_INFINITY;
  let last: Moment | undefined;
  /** From where reading has gone on since then, and the oldest transaction that was not over when it first did. */
  let read: { readonly from: DuePosition; readonly horizon: string } | undefined;
  let underWay: Omit<Part, 'took'>[] = [];

  function beginIfDue(moment: Moment, front: DuePosition): void {
    if (underWay.length > 0 || (last && moment.at - last.at < everyMs)) return;
    const until = front.nextAt;
    // At first nothing has been read, and nothing can be behind.
    if (last && isFurthest) underWay = [{ after: START, until, since: null }];
    else if (last) {
      const from = positionAt(last.at - backMs);
      underWay = [{ after: from, until: read?.from.nextAt ?? until, since: last.horizon }];
      if (read) underWay.push({ after: laterOf(read.from, from), until, since: read.horizon });
    }
    last = moment;
    read = undefined;
  }

  return {
    beginIfDue,
    passed(from: DuePosition, horizon: string): void {
      read ??= { from, horizon };
    },
    isOfAll: () => isFurthest && underWay.length > 0,
    parts: (): Part[] =>
      underWay.map((part) => ({
        ...part,
        took(rows, isMore) {
          const end = rows.at(-1);
          const rest = isMore && end ? [{ ...part, after: end }] : [];
          underWay = underWay.flatMap((one) => (one === part ? rest : [one]));
        },
      })),
  };
}

const laterOf = (one: DuePosition, other: DuePosition): DuePosition => (isBefore(one, other) ? other : one);
