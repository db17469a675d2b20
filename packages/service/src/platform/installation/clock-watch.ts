import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { columns, type Queryable, statement } from '../db/database.js';
import { epochMs } from '../db/time-sql.js';

export interface ClockLimits {
  /** Apart by more seconds than this, it is said in the log. */
  readonly warnSeconds: number;
  /** By more than this, the node is not to be trusted with anything that depends on the time. */
  readonly maxSeconds: number;
}

const LIMITS: ClockLimits = { warnSeconds: 2, maxSeconds: 30 };

export interface ClockWatchDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Logger;
  /** In place of the usual ones, for a test whose clock stands still. */
  readonly clockLimits?: Partial<ClockLimits>;
}

/** How far this node's clock is from the database's, which all nodes share. */
export interface ClockWatch {
  /** Asks the database what time it is. */
  compare(): Promise<void>;
  /** Once it was asked for the first time, whatever came of that. */
  readonly firstLook: Promise<void>;
  /** By how much this node's clock is ahead, negative when it is behind, as far as that is certain; 0 before the first look. */
  skewSeconds(): number;
  /** It was looked at, and is near enough. */
  isRight(): boolean;
  /** It was looked at, and is too far off. */
  isWrong(): boolean;
}

const READ_CLOCK = statement({
  name: 'clock',
  text: `select ${epochMs('clock_timestamp()')} as now`,
  parameters: [],
  columns: columns<{ now: number }>({ now: 'bigint' }),
});

type Verdict = 'right' | 'off' | 'wrong';

/**
 * The answer was written at some moment between the question and its arrival. What cannot be told apart from the time that
 * the answer took is not held against the clock: half the round trip is taken off.
 */
export function createClockWatch({ database, clock, log, clockLimits }: ClockWatchDeps): ClockWatch {
  const { warnSeconds, maxSeconds } = { ...LIMITS, ...clockLimits };
  let skew = 0;
  let verdict: Verdict | undefined;
  let resolveFirstLook = () => {};
  const firstLook = new Promise<void>((resolve) => {
    resolveFirstLook = resolve;
  });

  function judge(seconds: number): Verdict {
    if (Math.abs(seconds) > maxSeconds) return 'wrong';
    return Math.abs(seconds) > warnSeconds ? 'off' : 'right';
  }

  /** Once for each change. */
  function logChange(now: Verdict): void {
    const facts = { skewSeconds: Math.round(skew * 1000) / 1000 };
    if (now === 'wrong') {
      log.error(
        facts,
        'the clock of this node is too far from the database’s: it is not ready and begins nothing by itself',
      );
    } else if (now === 'off') log.warn(facts, 'the clock of this node differs from the database’s');
    else if (verdict !== undefined) log.info(facts, 'the clock of this node is right again');
  }

  async function look(): Promise<void> {
    const asked = performance.now();
    const [row] = await database.query(READ_CLOCK);
    const halfTrip = (performance.now() - asked) / 2;
    const apart = clock.now() - halfTrip - (row?.now ?? 0);
    skew = (Math.sign(apart) * Math.max(0, Math.abs(apart) - halfTrip)) / 1000;
    const now = judge(skew);
    if (now !== verdict) logChange(now);
    verdict = now;
  }

  return {
    firstLook,
    async compare() {
      try {
        await look();
      } finally {
        resolveFirstLook();
      }
    },
    skewSeconds: () => skew,
    isRight: () => verdict === 'right' || verdict === 'off',
    isWrong: () => verdict === 'wrong',
  };
}
