import { type Debit, toDebitMessage } from '@perennial/reference-peers';
import { expect } from 'vitest';
import { readDebitOutcome } from '../../src/gateways/bridge/read-outcomes.js';
import { OperatorError } from '../../src/operator/operator.js';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import type { History, Tracked } from './history.js';
import { paidLate, refundable, refundBegun, unsubscribed } from './model.js';
import { type Agreement, type Attempt, nameOf, required, runsOn } from './order.js';
import type { AgreementEnds, News, Refund } from './steps.js';
import { type Expected, pick } from './writes.js';

type Disturbed<T> = T & { readonly asksAgain: boolean };

/** Makes a refund as an operator does. After a crash, the step decides whether the request is repeated. */
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

/** Sends an institution's notice about a debit: its result, a repetition, or a contradiction. */
export async function news(history: History, step: Disturbed<News>): Promise<Expected> {
  const { world } = history;
  const all = history.orders.flatMap((tracked) => tracked.model.attempts.map((attempt) => ({ tracked, attempt })));
  const open = all.filter(({ attempt }) => attempt.status === 'STARTED');
  const picked = pick([...open, ...open, ...all], step.pick);
  if (!picked) return new Map();
  const { tracked, attempt } = picked;
  const code = required(tracked.model.agreements[attempt.agreement]).paymentChannelCode;
  const { handler, ledger } = required(world.banks.get(code));
  const number = formatAttemptNo(tracked.orderNo, attempt.cycleNo, attempt.tryNo);
  const debit = ledger.debits.get(number);
  if (!debit) return new Map();
  await handler.settleDebit(number);
  if (step.contrary && attempt.status !== 'STARTED') return contradicts(history, step, tracked, attempt, debit);
  world.arm();
  const message = toDebitMessage(debit);
  for (let sent = 0; sent < step.notices && !world.node().dead; sent += 1) {
    const reply = await world.notice(code, { kind: 'DEBIT', noticeNo: history.unique('notice'), ...message });
    if (reply) expect(reply.status, reply.text).toBe(200);
    world.heard.push({ number, at: world.clock.now(), outcome: readDebitOutcome({ ...message }, number) });
  }
  const crashed = await world.revive();
  const reached = history.follow(tracked, tracked.model);
  return new Map([[tracked, crashed ? reached.all : reached.ends]]);
}

/** Sends a notice that contradicts the stored result, which always raises an alert. */
async function contradicts(
  history: History,
  step: News,
  tracked: Tracked,
  attempt: Attempt,
  debit: Debit,
): Promise<Expected> {
  const { world } = history;
  const { model } = tracked;
  const { attemptNo: number } = debit;
  const now = world.clock.now();
  const { amountCent } = model.product;
  const paid = { attemptNo: number, status: 'SUCCESS', amountCent, paidAt: now, institutionRef: 'LATE' } as const;
  const takenBack = { attemptNo: number, status: 'DECLINED', decline: 'FINAL', reason: 'taken back' } as const;
  if (step.notices === 0) return new Map();
  const after = attempt.status === 'FAIL' ? paidLate(model, attempt, now, now) : model;
  // If the success changes the model, the bank has really debited. Otherwise its notice is wrong.
  if (after !== model) debit.result = { status: 'SUCCESS', amountCent };
  const code = required(model.agreements[attempt.agreement]).paymentChannelCode;
  const tell = async () => {
    const message = attempt.status === 'FAIL' ? paid : takenBack;
    const reply = await world.notice(code, { kind: 'DEBIT', noticeNo: history.unique('notice'), ...message });
    if (reply) expect(reply.status, reply.text).toBe(200);
  };
  world.arm();
  for (let sent = 0; sent < step.notices && !world.node().dead; sent += 1) await tell();
  // If the node died, sends the notice again, because a bank retries until it gets an answer.
  if (await world.revive()) await tell();
  tracked.contradictions.add(`${after === model ? 'debit-contradiction' : 'debit-late-success'} ${number}`);
  return new Map([[tracked, [after]]]);
}

/** Ends an agreement: the customer revokes the mandate at the bank, which notifies the service; or operators end it. */
export async function agreementEnds(history: History, step: Disturbed<AgreementEnds>): Promise<Expected> {
  const picked = pick(history.orders, step.order);
  const agreement = picked?.model.agreements.at(-1);
  if (!picked || !agreement) return new Map();
  const name = nameOf(agreement);
  const running = history.orders.filter(({ model }) => runsOn(model) === name);
  const ended = await (step.by === 'operations'
    ? canceled(history, picked, running)
    : givenNotice(history, step, agreement));
  if (ended === 'no') return new Map();
  history.gone.add(name);
  return new Map(
    running
      .filter(({ model }) => model.status === 'ACTIVE')
      .map((tracked) => {
        const after = unsubscribed(tracked.model, history.world.clock.now());
        return [tracked, ended === 'maybe' ? [tracked.model, after] : [after]];
      }),
  );
}

/** Whether the agreement has ended. 'maybe' if the node died: then it has ended completely or not at all. */
type HasEnded = 'yes' | 'no' | 'maybe';

async function canceled({ world }: History, picked: Tracked, running: readonly Tracked[]): Promise<HasEnded> {
  const [row] = await world.database.query<{ agreementNo: string }>(
    `select 'AG' || agreement_id as "agreementNo" from orders where order_no = $1`,
    [picked.orderNo],
  );
  const { agreementNo } = required(row);
  const isWaiting = running.some(({ model }) => model.status === 'INITIALIZING');
  world.arm();
  let answer: 'changed' | 'unchanged' | 'refused' | 'ended' = 'ended';
  try {
    answer = (await cancelAgreement(world.operator(), { agreementNo })).changed ? 'changed' : 'unchanged';
  } catch (error) {
    if (error instanceof OperatorError) answer = 'refused';
    else if (!world.node().dead) throw error;
  }
  const hasNone = picked.agreementEnded || picked.agreementReplaced;
  if (await world.revive()) return hasNone || isWaiting ? 'no' : 'maybe';
  if (picked.agreementEnded) {
    expect(answer, 'one that has ended').not.toBe('changed');
    return 'no';
  }
  const isRefused = isWaiting || picked.agreementReplaced;
  expect(answer).toBe(isRefused ? 'refused' : 'changed');
  return isRefused ? 'no' : 'yes';
}

async function givenNotice(history: History, step: AgreementEnds, agreement: Agreement): Promise<HasEnded> {
  const { world } = history;
  const { paymentChannelCode, institutionNo } = agreement;
  await required(world.banks.get(paymentChannelCode)).handler.endAgreement(institutionNo, 'ended by the customer');
  world.arm();
  for (let sent = 0; sent < step.notices && !world.node().dead; sent += 1) {
    const noticeNo = history.unique('notice');
    const message = { kind: 'AGREEMENT_CANCELED', noticeNo, institutionNo, reason: 'ended by the customer' } as const;
    const reply = await world.notice(paymentChannelCode, message);
    if (reply) expect(reply.status, reply.text).toBe(200);
  }
  return (await world.revive()) ? 'maybe' : 'yes';
}
