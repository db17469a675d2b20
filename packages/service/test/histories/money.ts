import { expect } from 'vitest';
import { ms } from '../../src/db/time-sql.js';
import { debitOutcome } from '../../src/gateways/bridge/outcomes.js';
import { debitMessage } from '../../src/institution/results.js';
import { OperatorError } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/refunds.js';
import { attemptNo } from '../../src/orders/numbers.js';
import { type History, nameOf, type Tracked } from './history.js';
import { leftUndone } from './invariants.js';
import { refundable, refundBegun, unsubscribed } from './model.js';
import { required } from './order.js';
import type { AgreementEnds, News, Refund, TimePasses } from './steps.js';
import { BANKS } from './world.js';
import { type Expected, pick } from './writes.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Disturbed<T> = T & { readonly asksAgain: boolean };

/** An operator gives money back, and after a crash asks for the same again. */
export async function refund(history: History, step: Disturbed<Refund>): Promise<Expected> {
  const { world } = history;
  const tracked = pick(history.orders, step.order);
  if (!tracked) return new Map();
  const { model, orderNo } = tracked;
  const cycleNo = required(pick(model.periods, step.period)).cycleNo;
  const left = refundable(model, cycleNo);
  const amountCent = { all: undefined, part: Math.max(1, Math.floor((left * step.share) / 100)), 'too much': left + 1 }[
    step.amount
  ];
  const asked = {
    orderNo: String(orderNo),
    cycleNo,
    key: history.unique('refund'),
    ...(amountCent === undefined ? {} : { amountCent }),
  };
  const once = async () => {
    try {
      return (await refundPayment(world.operator(), asked)).status;
    } catch (error) {
      if (error instanceof OperatorError) return 'refused';
      if (!world.node().dead) throw error;
      return 'ended';
    }
  };
  world.arm();
  let answer = await once();
  const crashed = await world.revive();
  if (crashed && step.asksAgain) answer = await once();
  const isAllowed = left > 0 && (amountCent ?? left) <= left;
  if (!isAllowed) {
    expect(answer === 'refused' || crashed, `the operator heard ${answer}`).toBe(true);
    return new Map();
  }
  const { all, ends } = history.follow(tracked, refundBegun(model, cycleNo, amountCent ?? left));
  if (crashed) return new Map([[tracked, [model, ...all]]]);
  const status = { STARTED: 'STARTED', SUCCESS: 'SUCCESS', FAIL: 'refused' }[required(ends[0]?.refunds.at(-1)).status];
  expect(answer).toBe(status);
  return new Map([[tracked, ends]]);
}

/** What an institution tells of a debit: its result, the same once more, or the contrary of what it said before. */
export async function news(history: History, step: Disturbed<News>): Promise<Expected> {
  const { world } = history;
  const all = history.orders.flatMap((tracked) => tracked.model.attempts.map((attempt) => ({ tracked, attempt })));
  const open = all.filter(({ attempt }) => attempt.status === 'STARTED');
  const picked = pick([...open, ...open, ...all], step.pick);
  if (!picked) return new Map();
  const { tracked, attempt } = picked;
  const code = required(tracked.model.agreements[attempt.agreement]).paymentChannelCode;
  const { desk, ledger } = required(world.banks.get(code));
  const number = attemptNo(tracked.orderNo, attempt.cycleNo, attempt.tryNo);
  const debit = ledger.debits.get(number);
  if (!debit) return new Map();
  await desk.settleDebit(number);
  const isContrary = step.contrary && attempt.status !== 'STARTED';
  const { amountCent } = tracked.model.product;
  const contrary = {
    SUCCESS: { attemptNo: number, status: 'DECLINED', decline: 'FINAL', reason: 'taken back' },
    FAIL: { attemptNo: number, status: 'SUCCESS', amountCent, paidAt: world.clock.now(), institutionRef: 'LATE' },
    STARTED: undefined,
  } as const;
  const message = (isContrary && contrary[attempt.status]) || debitMessage(debit);
  world.arm();
  for (let sent = 0; sent < step.notices && !world.node().dead; sent += 1) {
    const reply = await world.notice(code, { kind: 'DEBIT', noticeNo: history.unique('notice'), ...message });
    if (reply) expect(reply.status, reply.text).toBe(200);
    if (isContrary) (reply ? tracked.contradicted : tracked.perhapsContradicted).add(number);
    else world.heard.push({ number, at: world.clock.now(), outcome: debitOutcome({ ...message }, number) });
  }
  const crashed = await world.revive();
  const reached = history.follow(tracked, tracked.model);
  return new Map([[tracked, crashed ? reached.all : reached.ends]]);
}

/** The customer takes the mandate back at the bank, which tells the service. */
export async function agreementEnds(history: History, step: Disturbed<AgreementEnds>): Promise<Expected> {
  const { world } = history;
  const agreement = pick(history.orders, step.order)?.model.agreements.at(-1);
  if (!agreement) return new Map();
  const { paymentChannelCode, institutionNo } = agreement;
  history.gone.add(nameOf(agreement));
  await required(world.banks.get(paymentChannelCode)).desk.endAgreement(institutionNo, 'ended by the customer');
  world.arm();
  for (let sent = 0; sent < step.notices && !world.node().dead; sent += 1) {
    const noticeNo = history.unique('notice');
    const message = { kind: 'AGREEMENT_CANCELED', noticeNo, institutionNo, reason: 'ended by the customer' } as const;
    const reply = await world.notice(paymentChannelCode, message);
    if (reply) expect(reply.status, reply.text).toBe(200);
  }
  const crashed = await world.revive();
  const runsOnIt = ({ model }: Tracked) => {
    const current = model.agreements.at(-1);
    return current !== undefined && nameOf(current) === nameOf(agreement);
  };
  return new Map(
    history.orders
      .filter((tracked) => tracked.model.status === 'ACTIVE' && runsOnIt(tracked))
      .map((tracked) => {
        const ended = unsubscribed(tracked.model, world.clock.now());
        return [tracked, crashed ? [tracked.model, ended] : [ended]];
      }),
  );
}

/** Time passes, and the engine does what is due by then. */
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

/** Some hours later. */
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
  const ranAt = world.clock.now();
  const expected: Expected = new Map();
  for (const tracked of history.orders) {
    const { all, ends } = history.follow(tracked, tracked.model, { ranAt });
    expected.set(tracked, crashed ? all : ends);
  }
  if (!crashed) {
    const answered = new Set(world.heard.map(({ number }) => number));
    const started = [...expected].flatMap(([{ orderNo, model }, [end]]) =>
      (end?.attempts ?? []).slice(model.attempts.length).map((one) => attemptNo(orderNo, one.cycleNo, one.tryNo)),
    );
    const unsent = [...asked, ...started].filter((number) => !answered.has(number));
    if (unsent.length > 0) throw new Error(`the institution has heard nothing of ${unsent}`);
  }
  return expected;
}

/** The jobs have their turns until nothing is left that is due, or the node ends. */
async function untilDone({ world, orders }: History): Promise<void> {
  const orderNos = orders.map(({ orderNo }) => orderNo);
  for (let turns = 1; !world.node().dead; turns += 1) {
    try {
      await world.node().turn(BANKS);
    } catch (error) {
      if (!world.node().dead) throw error;
    }
    await world.node().quiet();
    const undone = await leftUndone(world.database, orderNos);
    if (undone.length === 0) break;
    if (turns === 100) throw new Error(`the engine does not come to an end: ${undone}`);
  }
}

interface Coming {
  readonly at: number;
  /** The number of an attempt or refund that is asked about then; null: an order is due. */
  readonly question: string | null;
}

async function comingUp({ world, orders }: History): Promise<Coming[]> {
  const number = `order_no || lpad(cycle_no::text, 4, '0') || lpad`;
  return world.database.query<Coming>(
    `select ${ms('at')} as at, question from (
       select next_due_at as at, null as question from orders where order_no = any($1)
       union all select ask_at, ${number}(try_no::text, 2, '0') from debit_attempts where order_no = any($1)
       union all select ask_at, 'R' || ${number}(refund_seq::text, 2, '0') from refunds where order_no = any($1)) x
     where at is not null`,
    [orders.map(({ orderNo }) => orderNo)],
  );
}
