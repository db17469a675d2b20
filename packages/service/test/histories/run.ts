import { formatTime } from '@perennial/wire';
import { hoursPass, timePasses } from './engine.js';
import { History } from './history.js';
import { agreementEnds, news, refund } from './money.js';
import { type OrderModel, openAttempt } from './order.js';
import type { HistoryPlan, Step } from './steps.js';
import { NOTHING_WRONG, type Plan, START, type World } from './world.js';
import { create, type Expected, replace, resend, retry, unsubscribe } from './writes.js';

const DAY_MS = 86_400_000;
const MOST_ORDERS = 3;

/**
 * Plays a history and checks everything after each step. Throws the findings of the first wrong step; otherwise returns
 * a word for each thing that happened.
 */
export async function play(world: World, plan: HistoryPlan, name: string): Promise<string[]> {
  const history = new History(world, name);
  const happened: string[] = [];
  await world.moveTo(START + plan.day * DAY_MS + plan.second * 1000);
  try {
    for (const [index, step] of plan.steps.entries()) {
      await said(`step ${index + 1}, ${JSON.stringify(step)}`, world, async () => {
        world.begin(planOf(history, step), 'crash' in step ? step.crash : undefined);
        const node = world.node();
        await history.check(await take(history, step));
        happened.push('step', ...(world.node() === node ? [] : ['crash']));
      });
    }
    await comesToRest(history);
    happened.push(...Array.from({ length: history.endedTogether }, () => 'orders ended together'));
    return [...happened, ...history.orders.flatMap(({ model }) => summary(model))];
  } finally {
    await world.revive();
    await leaveBehind(history);
  }
}

function summary({ mode, status, periods, attempts, refunds, agreements }: OrderModel): string[] {
  return [
    `${mode} ${status}`,
    ...periods.map((period) => `period ${period.status}`),
    ...attempts.filter(({ tryNo }) => tryNo > 1).map((attempt) => `retry ${attempt.status}`),
    ...refunds.map((refund) => `refund ${refund.status}`),
    ...agreements.slice(1).map(() => 'replacement'),
  ];
}

async function take(history: History, step: Step): Promise<Expected> {
  switch (step.kind) {
    case 'create':
      return history.orders.length < MOST_ORDERS ? create(history, step) : new Map();
    case 'time':
      return timePasses(history, step);
    case 'replace':
      return replace(history, step);
    case 'unsubscribe':
      return unsubscribe(history, step);
    case 'refund':
      return refund(history, step);
    case 'news':
      return news(history, step);
    case 'agreement ends':
      return agreementEnds(history, step);
    case 'retry':
      return retry(history, step);
    case 'resend':
      return resend(history, step);
  }
}

function planOf({ orders }: History, step: Step): Plan {
  const debits = 'debits' in step ? step.debits : [];
  return {
    debit: (orderNo, nth) => {
      const position = orders.findIndex((tracked) => tracked.orderNo === orderNo);
      return debits.length === 0 ? undefined : debits[(Math.max(position, 0) + nth) % debits.length];
    },
    refund: step.kind === 'refund' ? step.refund : undefined,
    query: step.kind === 'time' ? step.query : undefined,
  };
}

/** Runs the engine with working institutions until every debit and refund has a result. */
async function comesToRest(history: History): Promise<void> {
  const { world, orders } = history;
  const isOpen = () =>
    orders.some(({ model }) => openAttempt(model) || model.refunds.some(({ status }) => status === 'STARTED'));
  for (let pause = 1; isOpen(); pause += 1) {
    await said(`pause ${pause} at the end`, world, async () => {
      if (pause > 9) throw new Error('something is still open');
      world.begin(NOTHING_WRONG, undefined);
      await history.check(await hoursPass(history, 2));
    });
  }
}

async function said(what: string, { clock }: World, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${what}, at ${formatTime(clock.now())}: ${error.message}`;
    throw error;
  }
}

/**
 * Removes the due times of this history's orders, so that nothing of it falls due in the next history, which has its
 * own clock.
 */
async function leaveBehind({ world, orders, user }: History): Promise<void> {
  await world.database.query(
    `with o as (update orders set next_due_at = null where channel_user_id = $1),
       a as (update agreements set cancel_at = null where channel_user_id = $1),
       r as (update refunds set ask_at = null where order_no = any($2))
     update debit_attempts set ask_at = null where order_no = any($2)`,
    [user, orders.map(({ orderNo }) => orderNo)],
  );
}
