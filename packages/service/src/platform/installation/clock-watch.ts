import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { columns, type Queryable, statement } from '../db/database.js';
import { epochMs } from '../db/time-sql.js';

export interface ClockLimits {
  readonly warnSeconds: number;
  /**
   * If the clock differs from the database's by more than this, the node is not ready and starts no work that depends
   * on the time.
   */
  readonly maxSeconds: number;
}

const LIMITS: ClockLimits = { warnSeconds: 2, maxSeconds: 30 };

export interface ClockWatchDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Logger;
  /** Overrides the limits, for tests whose clock stands still. */
  readonly clockLimits?: Partial<ClockLimits>;
}

const READ_CLOCK = statement({
  name: 'clock',
  text: `select ${epochMs('clock_timestamp()')} as now`,
  parameters: [],
  columns: columns({ now: 'bigint' }),
});

type Verdict = 'right' | 'off' | 'wrong';

/**
 * Compares this node's clock at the middle of the round trip with the database's clock. The comparison may be wrong by
 * half the round trip, so the reported difference is reduced by that time.
 */
export function createClockWatch({ database, clock, log, clockLimits }: ClockWatchDeps) {
  const { warnSeconds, maxSeconds } = { ...LIMITS, ...clockLimits };
  let skew = 0;
  let offset = 0;
  let verdict: Verdict | undefined;
  let resolveFirstLook = () => {};
  const firstLook = new Promise<void>((resolve) => {
    resolveFirstLook = resolve;
  });

  /** Returns the skew, plus the time by which the clock was set since the last comparison. */
  const skewNow = () => skew + (clock.now() - performance.now() - offset) / 1000;
  const isWrong = () => verdict !== undefined && judge(skewNow()) === 'wrong';

  function judge(seconds: number): Verdict {
    if (Math.abs(seconds) > maxSeconds) return 'wrong';
    return Math.abs(seconds) > warnSeconds ? 'off' : 'right';
  }

  function logChange(now: Verdict): void {
    const facts = { skewSeconds: Math.round(skew * 1000) / 1000 };
    if (now === 'wrong') {
      log.error(facts, 'the clock of this node is too far from the database’s: the node is not ready and runs no jobs');
    } else if (now === 'off') log.warn(facts, 'the clock of this node differs from the database’s');
    else if (verdict !== undefined) log.info(facts, 'the clock of this node is right again');
  }

  async function look(): Promise<void> {
    const asked = performance.now();
    const [row] = await database.query(READ_CLOCK);
    const halfTrip = (performance.now() - asked) / 2;
    const answered = clock.now();
    const apart = answered - halfTrip - (row?.now ?? 0);
    offset = answered - performance.now();
    skew = (Math.sign(apart) * Math.max(0, Math.abs(apart) - halfTrip)) / 1000;
    const now = judge(skew);
    if (now !== verdict) logChange(now);
    verdict = now;
  }

  return {
    /** Resolves after the first comparison, even if it failed. */
    firstLook,
    async compare(): Promise<void> {
      try {
        await look();
      } finally {
        resolveFirstLook();
      }
    },
    /**
     * The minimum difference between this node's clock and the database's clock, in seconds. It is positive if this
     * node's clock is ahead, negative if it is behind, and 0 before the first comparison.
     */
    skewSeconds: (): number => skew,
    /** Returns true if the clock was compared and is close enough to the database's. */
    isRight: (): boolean => verdict !== undefined && !isWrong(),
    /** Returns true if the clock was compared and is too far from the database's, or was set so since then. */
    isWrong,
  };
}

export type ClockWatch = ReturnType<typeof createClockWatch>;
