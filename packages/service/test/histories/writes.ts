import { expect } from 'vitest';
import { OperatorError } from '../../src/operator/operator.js';
import { retryPeriod, unsubscribeOrder } from '../../src/operator/orders/orders.js';
import type { Reply } from '../support/channel-client.js';
import { encrypted, encryptedCard, mobileOf, respelled } from '../support/demo.js';
import type { Binding, History, Tracked } from './history.js';
import { boundAgain, created, madeDue, replaced, unsubscribed } from './model.js';
import { type Agreement, lastPeriod, type OrderModel, openAttempt, required } from './order.js';
import type { Create, Replace, Step, Unsubscribe } from './steps.js';
import { seen, viewOf } from './view.js';
import { BANKS, PRODUCTS } from './world.js';

export type Expected = Map<Tracked, readonly OrderModel[]>;
type Disturbed<T> = T & { readonly asksAgain: boolean };

/** Slightly longer than a node's lease on an unfinished request. */
const LEASE_MS = 31_000;
export const bankOf = (number: number) => required(BANKS[number % BANKS.length]);
export const pick = <T>(items: readonly T[], number: number): T | undefined => items[number % items.length];

/**
 * Sends one write of the channel. If the node dies, the step decides whether the write is sent again, to a new node and
 * in another spelling.
 */
async function write(history: History, step: Disturbed<object>, name: string, body: object, engineFirst = false) {
  const { world } = history;
  const key = step.asksAgain ? history.unique('key') : undefined;
  world.arm();
  let reply = await world.call(name, body, key);
  const crashed = await world.revive();
  if (crashed && reply === undefined && key !== undefined) {
    await world.moveTo(world.clock.now() + LEASE_MS);
    if (engineFirst) await history.engineTurn();
    reply = required(await world.call(name, body, key, respelled(world.channel, body)));
  }
  if (reply) history.acknowledge(reply, name, body, key);
  return { reply, crashed };
}

export async function create(history: History, step: Disturbed<Create>): Promise<Expected> {
  const { world } = history;
  const product = required(pick(PRODUCTS, step.product));
  const externalOrderNo = history.unique('order');
  const by = step.mode === 'B' ? undefined : await agreementFor(history, step);
  const body = {
    settlementMode: step.mode === 'B' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT',
    externalOrderNo,
    productCode: product.productCode,
    ...(by?.bindOrderNo === undefined
      ? { channelUserId: history.user, mobileEncrypted: encrypted(world.channel, mobileOf(history.user)) }
      : { bindOrderNo: by.bindOrderNo }),
    ...(step.mode === 'A2' && by ? { sharedAgreement: shared(history, by) } : {}),
  };
  const at = world.clock.now();
  const { reply, crashed } = await write(history, step, 'orders/create', body, step.engineFirst);
  if (reply?.code === '410002') {
    expect(history.orders.length, 'a binding that nobody has used is good').toBeGreaterThan(0);
    history.binding = undefined;
    return new Map();
  }
  if (reply) expect(reply.code, reply.text).toBe('0');
  const orderNo = reply ? Number(reply.data.orderNo) : await stored(history, externalOrderNo);
  if (orderNo === undefined) return new Map();
  // If the creation was resent, either the first or the second request created the order.
  const times = [at, ...(crashed ? [world.clock.now()] : [])];
  const tracked = history.track(orderNo, created(step.mode, product, at, by));
  const possible = times.flatMap((time) => {
    const { all, ends } = history.follow(tracked, created(step.mode, product, time, by));
    return crashed ? all : ends;
  });
  if (!reply) return new Map([[tracked, possible]]);
  const now = world.clock.now();
  const answered = possible.filter((one) => answers(reply, one, orderNo, now));
  // A replayed answer shows the order before the crash. Due work may have changed the order since then.
  const isOld = reply.headers['idempotency-replayed'] === 'true';
  return new Map([[tracked, isOld ? answered.flatMap((one) => history.follow(tracked, one).all) : answered]]);
}

/** Returns true if the answer shows the order in this state. */
function answers(reply: Reply, order: OrderModel, orderNo: number, now: number): boolean {
  const view = viewOf(order, orderNo, now);
  const shown = seen(reply.data);
  return JSON.stringify(sorted(view)) === JSON.stringify(sorted(shown));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, one]) => [name, sorted(one)] as const)
      .sort(),
  );
}

async function stored(history: History, externalOrderNo: string): Promise<number | undefined> {
  const [row] = await history.world.database.query<{ orderNo: number }>(
    `select order_no as "orderNo" from external_orders where key_of(external_order_no) = key_of($1::text)`,
    [externalOrderNo],
  );
  return row?.orderNo;
}

/**
 * Returns the agreement for an order: in A.2 a shared number, in A.1 a bound card. Several orders can use the same
 * agreement.
 */
async function agreementFor(history: History, step: Create): Promise<Agreement & { bindOrderNo?: string }> {
  if (step.mode === 'A2') return sharedNumber(history, step);
  if (!step.sameAgreement || history.binding === undefined) {
    history.binding = await bind(history, bankOf(step.bank));
  }
  return history.binding;
}

function sharedNumber(history: History, step: { bank: number; sameAgreement: boolean }): Agreement {
  if (step.sameAgreement) return { paymentChannelCode: bankOf(0), institutionNo: `${history.user}-common` };
  return { paymentChannelCode: bankOf(step.bank), institutionNo: history.unique('shared') };
}

function shared({ world, user }: History, { paymentChannelCode, institutionNo }: Agreement) {
  return {
    paymentChannelCode,
    sharedAgreementNo: institutionNo,
    channelUserId: user,
    ...encryptedCard(world.channel),
  };
}

async function bind(history: History, paymentChannelCode: string): Promise<Binding> {
  const { world, user } = history;
  const sent = await world.call('agreements/bind-sms', {
    channelUserId: user,
    mobileEncrypted: encrypted(world.channel, mobileOf(user)),
    paymentChannelCode,
    ...encryptedCard(world.channel),
  });
  const bindOrderNo: string = sent?.data?.bindOrderNo;
  const bound = await world.call('agreements/bind-confirm', {
    bindOrderNo,
    smsCodeEncrypted: encrypted(world.channel, '123456'),
  });
  expect(bound?.data?.agreementStatus, bound?.text).toBe('BIND_SUCCESS');
  const institutionNo = required(world.banks.get(paymentChannelCode)?.ledger.bindings.get(bindOrderNo)?.institutionNo);
  const binding = { bindOrderNo, paymentChannelCode, institutionNo };
  takeOver(history, binding);
  return binding;
}

/**
 * Moves the orders of the earlier binding at this payment channel to the new binding, because a history always binds
 * the same card.
 */
function takeOver({ orders }: History, binding: Binding): void {
  for (const tracked of orders) {
    const { model, agreementEnded } = tracked;
    const isOnCard = model.mode === 'A1' && model.agreements.at(-1)?.paymentChannelCode === binding.paymentChannelCode;
    if (!isOnCard || agreementEnded) continue;
    tracked.model = boundAgain(model, binding);
    tracked.agreementReplaced = tracked.model === model;
  }
}

export async function replace(history: History, step: Disturbed<Replace>): Promise<Expected> {
  const tracked = pick(history.orders, step.order);
  if (!tracked) return new Map();
  const { model, orderNo } = tracked;
  const next = sharedNumber(history, step);
  const { retryFailedNow } = step;
  const body = {
    orderNo: String(orderNo),
    newSharedAgreement: shared(history, next),
    ...(retryFailedNow === undefined ? {} : { retryFailedNow }),
  };
  const before = await agreementIdOf(history, orderNo);
  const { reply } = await write(history, step, 'agreements/replace', body);
  const refusal =
    model.mode !== 'A2'
      ? '410008'
      : { INITIALIZING: '0', ACTIVE: '0', UNSUBSCRIBED: '420003', TERMINATED: '420003', COMPLETED: '420004' }[
          model.status
        ];
  if (reply) expect(reply.code, reply.text).toBe(refusal);
  if (refusal !== '0') return new Map();
  const after = replaced(model, next, retryFailedNow !== false, history.world.clock.now());
  // Without an answer, the id of the order's agreement shows whether the order was moved. The agreement's number can be
  // the same as before.
  if (!reply) return new Map([[tracked, [(await agreementIdOf(history, orderNo)) === before ? model : after]]]);
  const retried = openAttempt(after) && !openAttempt(model);
  expect(reply.data.retriedNow).toEqual(
    retried ? [expect.objectContaining({ cycleNo: lastPeriod(model).cycleNo, newStatus: 'PROCESSING' })] : [],
  );
  const switched = viewOf(model, orderNo, 0).paymentRecords.filter(({ paymentStatus }) =>
    ['WAIT', 'PROCESSING', 'FAIL_RETRY'].includes(paymentStatus),
  );
  expect(reply.data.affectedPayments).toEqual(
    switched.map(({ paymentOrderNo, cycleNo, paymentStatus }) => ({
      paymentOrderNo,
      cycleNo,
      previousStatus: paymentStatus,
    })),
  );
  return new Map([[tracked, [after]]]);
}

async function agreementIdOf({ world }: History, orderNo: number): Promise<number | undefined> {
  const [row] = await world.database.query<{ id: number }>(
    'select agreement_id as id from orders where order_no = $1',
    [orderNo],
  );
  return row?.id;
}

export async function unsubscribe(history: History, step: Disturbed<Unsubscribe>): Promise<Expected> {
  const tracked = pick(history.orders, step.order);
  if (!tracked) return new Map();
  const { model, orderNo } = tracked;
  const refusal = { INITIALIZING: '420008', ACTIVE: '0', UNSUBSCRIBED: '0', TERMINATED: '0', COMPLETED: '420004' }[
    model.status
  ];
  const { world } = history;
  const ended = () => (model.status === 'ACTIVE' ? unsubscribed(model, world.clock.now()) : model);
  const before = ended();
  if (step.by === 'channel') {
    const { reply } = await write(history, step, 'orders/unsubscribe', { orderNo: String(orderNo) });
    if (!reply) return new Map([[tracked, [model, before]]]);
    expect(reply.code, reply.text).toBe(refusal);
    // If the request was repeated after a crash, the first or the second request unsubscribed the order.
    const possible = [before, ended()];
    if (refusal !== '0') return new Map();
    const now = world.clock.now();
    return new Map([
      [tracked, possible.filter((one) => answers(reply, one, orderNo, now) || one.status !== 'UNSUBSCRIBED')],
    ]);
  }
  world.arm();
  const refused = await operatorRefuses(history, () =>
    unsubscribeOrder(world.operator(), { orderNo: String(orderNo) }),
  );
  const crashed = await world.revive();
  if (crashed) return new Map([[tracked, [model, before]]]);
  expect(refused).toBe(refusal !== '0');
  return new Map([[tracked, [before]]]);
}

/** Returns true if the action is refused. Returns false if it succeeds or the node dies. */
async function operatorRefuses({ world }: History, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
  } catch (error) {
    if (error instanceof OperatorError) return true;
    if (!world.node().dead) throw error;
  }
  return false;
}

export async function retry(history: History, step: Extract<Step, { kind: 'retry' }>): Promise<Expected> {
  const tracked = pick(history.orders, step.order);
  if (!tracked) return new Map();
  const { model, orderNo } = tracked;
  const { cycleNo, status } = lastPeriod(model);
  const { world } = history;
  const refused = await operatorRefuses(history, () =>
    retryPeriod(world.operator(), { orderNo: String(orderNo), cycleNo }),
  );
  expect(refused).toBe(status !== 'FAIL_RETRY');
  return status === 'FAIL_RETRY' ? new Map([[tracked, [madeDue(model, world.clock.now())]]]) : new Map();
}

/** The age up to which a request can be resent: a day less than the window of idempotency keys. */
const WINDOW_MS = 6 * 86_400_000;

export async function resend(history: History, step: Extract<Step, { kind: 'resend' }>): Promise<Expected> {
  const { world } = history;
  const known = history.acknowledged.filter(({ at }) => world.clock.now() - at < WINDOW_MS);
  const first = pick(known, step.pick);
  if (!first) return new Map();
  const again = required(await world.call(first.name, first.body, first.key, respelled(world.channel, first.body)));
  expect({ code: again.code, data: again.data }).toEqual({ code: first.code, data: first.data });
  expect(again.headers['idempotency-replayed']).toBe('true');
  return new Map();
}
