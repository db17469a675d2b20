import { epochMs } from '../../src/platform/db/time-sql.js';
import type { History } from './history.js';
import { leftUndone } from './invariants.js';
import type { TimePasses } from './steps.js';
import type { Expected } from './writes.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Disturbed<T> = T & { readonly asksAgain: boolean };

/** Moves the time and lets the engine do what is due. */
export async function timePasses(history: History, step: Disturbed<TimePasses>): Promise<Expected> {
  const { world } = history;
  const upcoming = await comingUp(history);
  const now = world.clock.now();
  const first = (some: readonly Coming[]) =>
    some.reduce<number | undefined>((least, { at }) => (least === undefined ? at : Math.min(least, at)), undefined);
  const due = upcoming.filter(({ question }) => question === null);
  const next = (step.to === 'next step' ? undefined : first(due)) ?? first(upcoming) ?? now + HOUR_MS;
  const pause = step.to === 'after a pause' ? step.days * DAY_MS : 0;
  return engineRunsAt(history, Math.max(now, next) + pause, upcoming, step.asksAgain);
}

/** Moves the time by some hours and lets the engine do what is due. */
export async function hoursPass(history: History, hours: number): Promise<Expected> {
  return engineRunsAt(history, history.world.clock.now() + hours * HOUR_MS, await comingUp(history), false);
}

async function engineRunsAt(
  history: History,
  at: number,
  upcoming: readonly Coming[],
  asksAgain: boolean,
): Promise<Expected> {
  const { world } = history;
  await world.moveTo(at);
  const asked = upcoming.flatMap((one) => (one.question !== null && one.at <= at ? [one.question] : []));
  world.arm();
  await untilDone(history);
  const crashed = await world.revive();
  if (crashed && asksAgain) await untilDone(history);
  const expected: Expected = new Map();
  for (const tracked of history.orders) {
    const { all, ends } = history.follow(tracked, tracked.model);
    expected.set(tracked, crashed ? all : ends);
  }
  if (!crashed) history.mustBeHeard = asked;
  return expected;
}

/** Runs the jobs until nothing is due, or the node dies. */
async function untilDone(history: History): Promise<void> {
  const { world, orders } = history;
  const orderNos = orders.map(({ orderNo }) => orderNo);
  for (let turns = 1; !world.node().dead; turns += 1) {
    try {
      await history.engineTurn();
    } catch (error) {
      if (!world.node().dead) throw error;
    }
    const undone = await leftUndone(world.database, orderNos);
    if (undone.length === 0) break;
    if (turns === 100) throw new Error(`the engine does not come to an end: ${undone}`);
  }
}

interface Coming {
  readonly at: number;
  /** The attempt or refund number to query. Null means that an order is due. */
  readonly question: string | null;
}

async function comingUp({ world, orders }: History): Promise<Coming[]> {
  const number = `order_no || lpad(cycle_no::text, 4, '0') || lpad`;
  return world.database.query<Coming>(
    `select ${epochMs('at')} as at, question from (
       select next_due_at as at, null as question from orders where order_no = any($1)
       union all select ask_at, ${number}(try_no::text, 2, '0') from debit_attempts where order_no = any($1)
       union all select ask_at, 'R' || ${number}(refund_seq::text, 2, '0') from refunds where order_no = any($1)) x
     where at is not null`,
    [orders.map(({ orderNo }) => orderNo)],
  );
}
