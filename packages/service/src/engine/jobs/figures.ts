import { DAY_MS, FIGURES_JOB, FIGURES_SINCE_JOB, floorToDay, floorToHour, HOUR_MS } from '../../figures/figures.js';
import {
  countOrders,
  type FigureMarks,
  type Hours,
  lockFigures,
  readMarks,
  storeMark,
  writeDays,
  writeHours,
} from '../../figures/write-figures-sql.js';
import type { Clock } from '../../platform/clock.js';
import { LONG_STATEMENT_MS, type Queryable, sqlState } from '../../platform/db/database.js';
import type { JobDeps } from '../job-deps.js';

export type FiguresDeps = Pick<JobDeps, 'database' | 'clock' | 'stopping'>;

/**
 * The figures may miss an event that is committed more than 15 minutes after its time. No transaction takes nearly that
 * long.
 */
const LATE_MS = 900_000;
/** The shortest interval between two turns (runs of this job), on any node. */
const TURN_MS = 50_000;
/** How far back the figures reach: a year, and one more month for comparison. */
const MONTHS_BACK_MS = 396 * DAY_MS;
/** The very first turn begins with the last 24 hours, so that these are visible while older days are being counted. */
const FIRST_MS = DAY_MS;
/** The time after which a turn begins no further step, except the count of all orders. */
const TURN_BUDGET_MS = 10_000;

/**
 * The minimum number of hours in a step. A step of one hour could only repeat the last hour, which may still change.
 */
const MIN_HOURS = 2;
const MAX_HOURS = 32 * 24;
const SHORT_STEP_MS = 500;
const LONG_STEP_MS = 5_000;

/** The pause after a turn or a count of orders, as a multiple of its duration. It limits the load on the database. */
const REST_AFTER_TURN = 20;
const REST_AFTER_COUNT = 100;

const STATEMENT_TIMED_OUT = '57014';

/**
 * Creates the job that updates the figures of the overview. It counts first the hours since its last turn, then
 * gradually the hours before its first turn. One node runs it at a time. A step commits its counts and its position
 * together, so that a node that dies leaves nothing half done. Each run returns the number of steps.
 */
export function createFiguresJob({ database, clock, stopping = () => false }: FiguresDeps): () => Promise<number> {
  const stepSize = createStepSize();
  let restUntil = 0;
  let countAgainAt = 0;

  /** Runs a step. Returns undefined if another node is running one, or if there is nothing to count. */
  const runStep = <T>(work: (tx: Queryable, marks: FigureMarks) => Promise<T | undefined>): Promise<T | undefined> =>
    database.transaction(async (tx) => ((await lockFigures(tx)) ? await work(tx, await readMarks(tx)) : undefined), {
      statementMs: LONG_STATEMENT_MS,
    });

  /**
   * Counts all orders. Returns the time of the next count. If the statement times out because there are too many
   * orders, skips this count.
   */
  async function countAllOrders(): Promise<number> {
    const since = clock.now();
    try {
      await runStep((tx) => countOrders(tx, floorToDay(since) + DAY_MS));
    } catch (error) {
      if (sqlState(error) !== STATEMENT_TIMED_OUT) throw error;
    }
    return clock.now() + (clock.now() - since) * REST_AFTER_COUNT;
  }

  return async function bringFiguresUpToDate(): Promise<number> {
    const startedAt = clock.now();
    if (startedAt < restUntil) return 0;
    const mayGoOn = () => !stopping() && clock.now() - startedAt < TURN_BUDGET_MS;
    let steps = 0;
    let isUpToDate = false;
    while (!isUpToDate && mayGoOn()) {
      const isFirst = steps === 0;
      const reached = await stepSize.measure(clock, (hours) =>
        runStep((tx, marks) => countForward(tx, marks, { now: clock.now(), hours, isFirst })),
      );
      if (reached === undefined) break;
      steps += 1;
      isUpToDate = reached >= startedAt;
    }
    if (isUpToDate) {
      if (startedAt >= countAgainAt) countAgainAt = await countAllOrders();
      while (mayGoOn()) {
        const done = await stepSize.measure(clock, (hours) =>
          runStep((tx, marks) => countBackward(tx, marks, { now: startedAt, hours })),
        );
        if (done === undefined) break;
        steps += 1;
      }
    }
    restUntil = clock.now() + (clock.now() - startedAt) * REST_AFTER_TURN;
    return steps;
  };
}

/**
 * Counts the next hours. Returns the time up to which figures are complete, or undefined if the last turn was less than
 * TURN_MS ago.
 */
async function countForward(
  tx: Queryable,
  marks: FigureMarks,
  { now, hours, isFirst }: { readonly now: number; readonly hours: number; readonly isFirst: boolean },
): Promise<number | undefined> {
  if (marks.upTo === null) {
    const from = floorToHour(now - FIRST_MS);
    await storeMark(tx, FIGURES_SINCE_JOB, from);
    return countUpTo(tx, { from, to: floorToHour(now) + HOUR_MS }, now);
  }
  // A stored time in the future comes from a node whose clock was wrong.
  const upTo = Math.min(marks.upTo, now);
  if (isFirst && marks.upTo <= now && now - upTo < TURN_MS) return undefined;
  const from = floorToHour(upTo - LATE_MS);
  return countUpTo(tx, { from, to: Math.min(from + hours * HOUR_MS, floorToHour(now) + HOUR_MS) }, now);
}

async function countUpTo(tx: Queryable, hours: Hours, now: number): Promise<number> {
  await writeFigures(tx, hours);
  const reached = Math.min(hours.to, now);
  await storeMark(tx, FIGURES_JOB, reached);
  return reached;
}

/** Counts the hours before the earliest counted hour. Returns undefined if nothing is left to count. */
async function countBackward(
  tx: Queryable,
  { since, firstChannelAt }: FigureMarks,
  { now, hours }: { readonly now: number; readonly hours: number },
): Promise<number | undefined> {
  if (since === null || firstChannelAt === null) return undefined;
  const first = floorToHour(Math.max(now - MONTHS_BACK_MS, firstChannelAt));
  if (since <= first) return undefined;
  const from = Math.max(first, since - hours * HOUR_MS);
  await writeFigures(tx, { from, to: since });
  await storeMark(tx, FIGURES_SINCE_JOB, from);
  return from;
}

async function writeFigures(tx: Queryable, hours: Hours): Promise<void> {
  await writeHours(tx, hours);
  await writeDays(tx, { from: floorToDay(hours.from), to: floorToDay(hours.to - 1) + DAY_MS });
}

/** Adapts the hours per step: more if the last step was quick, fewer if it was slow. */
function createStepSize() {
  let hours = 24;
  const halve = () => {
    hours = Math.max(MIN_HOURS, Math.floor(hours / 2));
  };
  return {
    async measure<T>(clock: Clock, work: (hours: number) => Promise<T>): Promise<T> {
      const since = clock.now();
      try {
        const result = await work(hours);
        const took = clock.now() - since;
        if (took > LONG_STEP_MS) halve();
        else if (took < SHORT_STEP_MS) hours = Math.min(MAX_HOURS, hours * 2);
        return result;
      } catch (error) {
        if (sqlState(error) === STATEMENT_TIMED_OUT) halve();
        throw error;
      }
    },
  };
}
