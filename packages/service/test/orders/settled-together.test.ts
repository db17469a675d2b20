import { beforeEach, describe, expect, it } from 'vitest';
import type { DebitOutcome, DebitRequest } from '../../src/gateways/gateway.js';
import { gate } from '../agreements/support.js';
import { declined } from '../renewals/support.js';
import type { Reply } from '../support/channel-client.js';
import { bindCard, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { boundRequest, nodeOfFile, stageOfFile } from './stage-of-file.js';
import { agreementOf, alerts, paid } from './support.js';

/** Tests creations whose debits all get their outcomes at the same moment. */

const { on, service, channel, sql, told } = stageOfFile();
const node = nodeOfFile(on);
beforeEach(() => sql('delete from alerts'));

const benefitsOf = async (orderNo: string) => (await sql('select from benefits where order_no = $1', [orderNo])).length;
const attemptsOf = (orderNo: string) =>
  sql<{ status: string }>('select status from debit_attempts where order_no = $1', [orderNo]);

/** Returns the ids of the transactions that last wrote these orders. */
const writersOf = (orderNos: readonly string[]) =>
  sql<{ writer: string }>('select distinct xmin::text as writer from orders where order_no = any($1::bigint[])', [
    orderNos,
  ]);

interface Creation {
  readonly request: { readonly externalOrderNo: string };
  readonly key: string;
  readonly orderNo: string;
  readonly answer: Promise<Reply>;
}

/**
 * Starts these creations. Their debits get no outcome until the gate opens. Resolves when every creation has stored its
 * order and waits for its debit's outcome.
 */
async function standing<Name extends string>(
  requests: Readonly<Record<Name, { readonly externalOrderNo: string }>>,
  outcomeOf: (name: Name, debit: DebitRequest) => DebitOutcome,
) {
  const names = Object.keys(requests) as Name[];
  const door = gate();
  const everybody = gate();
  let arrived = 0;
  on.institution.onDebit = async (debit) => {
    arrived += 1;
    const behind = names.length - arrived;
    if (arrived === names.length) everybody.open();
    await door.passed;
    // Returns the outcomes in reverse sequence, because the orders of a batch need not be sorted by number.
    for (let turn = 0; turn < behind; turn += 1) await undefined;
    const name = names.find((one) => requests[one].externalOrderNo === debit.externalOrderNo);
    if (name === undefined) throw new Error(`nobody has created ${debit.externalOrderNo}`);
    return outcomeOf(name, debit);
  };
  const sent = names.map((name) => {
    const key = unique('key');
    const answer = channel.call('orders/create', requests[name], { idempotencyKey: key });
    return { name, request: requests[name], key, answer };
  });
  await everybody.passed;
  const creations = await Promise.all(
    sent.map(async ({ name, ...one }) => {
      const { data } = await channel.call('orders/query', { externalOrderNo: one.request.externalOrderNo });
      expect(data.orderStatus).toBe('INITIALIZING');
      return [name, { ...one, orderNo: data.orderNo as string }] as const;
    }),
  );
  return { of: Object.fromEntries(creations) as Record<Name, Creation>, open: door.open };
}

/** Locks the order's row in another transaction. Returns a function that releases the row. */
async function holdOrder(orderNo: string): Promise<() => Promise<void>> {
  const held = gate();
  const done = service.fresh.database.transaction(async (tx) => {
    await tx.query('select from orders where order_no = $1 for update', [orderNo]);
    await held.stand();
  });
  await held.reached;
  return async () => {
    held.open();
    await done;
  };
}

const attemptNoOf = (orderNo: string) => `${orderNo}000101`;

const SUCCEEDED = ['SUCCESS', 'ACTIVE'];

describe('creations whose outcomes arrive together', () => {
  it('share a statement, and each that has changed is settled on its own', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    const invalidOn = await bindCard(channel, unique('user'));
    const runsOnInvalid = (await channel.call('orders/create', boundRequest(invalidOn))).data.orderNo;
    on.institution.reset();
    const endedUser = unique('user');
    const endedNo = unique('number');
    const scenes = await standing(
      {
        one: sharedRequest(channel),
        two: sharedRequest(channel),
        three: sharedRequest(channel),
        bound: boundRequest(bindOrderNo),
        boundToo: boundRequest(bindOrderNo),
        declined: sharedRequest(channel),
        invalid: boundRequest(invalidOn),
        pending: sharedRequest(channel),
        lost: sharedRequest(channel),
        wrongAmount: sharedRequest(channel),
        noticed: sharedRequest(channel),
        contradicted: sharedRequest(channel),
        ended: sharedRequest(channel, {
          channelUserId: endedUser,
          sharedAgreement: sharedAgreement(channel, endedUser, { sharedAgreementNo: endedNo }),
        }),
        takenOver: sharedRequest(channel),
        held: sharedRequest(channel),
      },
      (name, debit) => {
        if (name === 'declined') return declined('final');
        if (name === 'invalid') return declined('agreement-invalid');
        if (name === 'pending') return { kind: 'pending' };
        if (name === 'lost') throw new Error('the connection broke');
        return paid(debit, name === 'wrongAmount' ? { amountCent: 1 } : {});
      },
    );
    const { of } = scenes;

    const { startedAt, amountCent } = on.institution.debits[0] as DebitRequest;
    const attemptNo = attemptNoOf(of.noticed.orderNo);
    const success = { kind: 'success', paidAt: startedAt, amountCent, institutionRef: `ref-${attemptNo}` } as const;
    await on.notice({ kind: 'debit', attemptNo, outcome: success });
    const failed = { kind: 'declined', decline: 'final', reason: 'no money' } as const;
    await on.notice({ kind: 'debit', attemptNo: attemptNoOf(of.contradicted.orderNo), outcome: failed });
    await on.notice({ kind: 'agreement-canceled', institutionNo: endedNo, reason: 'ended by the user' });
    await sql('update idempotency set lease_until = now() where key = $1', [of.takenOver.key]);
    const question = gate();
    on.institution.onQuery = async (debit) => {
      await question.stand();
      return paid(debit);
    };
    const takingOver = node
      .client(channel)
      .call('orders/create', of.takenOver.request, { idempotencyKey: of.takenOver.key });
    await question.reached;
    const letGo = await holdOrder(of.held.orderNo);

    scenes.open();
    // No other creation waits for the locked order or for the key that was taken over.
    const { held, takenOver, ...others } = of;
    const answers = new Map<Creation, Reply>();
    for (const creation of Object.values(others)) answers.set(creation, await creation.answer);
    await letGo();
    answers.set(held, await held.answer);
    question.open();
    await takingOver;
    answers.set(takenOver, await takenOver.answer);
    expect((await takingOver).data).toEqual(answers.get(takenOver)?.data);

    const ends = {
      one: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      two: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      three: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      bound: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      boundToo: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      declined: ['TERMINATED', 'FAIL', ['FAIL', 'TERMINATED']],
      invalid: ['TERMINATED', 'FAIL', ['FAIL', 'TERMINATED']],
      pending: ['INITIALIZING', 'PROCESSING', []],
      lost: ['INITIALIZING', 'PROCESSING', []],
      wrongAmount: ['INITIALIZING', 'PROCESSING', []],
      noticed: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      contradicted: ['TERMINATED', 'FAIL', ['FAIL', 'TERMINATED']],
      ended: ['UNSUBSCRIBED', 'SUCCESS', [...SUCCEEDED, 'UNSUBSCRIBED', 'CANCELED']],
      takenOver: ['ACTIVE', 'SUCCESS', SUCCEEDED],
      held: ['ACTIVE', 'SUCCESS', SUCCEEDED],
    } as const satisfies Record<keyof typeof of, readonly [string, string, readonly string[]]>;
    for (const [name, [orderStatus, paymentStatus, events]] of Object.entries(ends)) {
      const creation = of[name as keyof typeof of];
      const answer = answers.get(creation);
      expect(answer?.code, `${name} ${answer?.text}`).toBe('0');
      expect([name, answer?.data.orderStatus, answer?.data.paymentRecords[0].paymentStatus]).toEqual([
        name,
        orderStatus,
        paymentStatus,
      ]);
      const { data: now } = await channel.call('orders/query', { orderNo: creation.orderNo });
      // The links are equal too: they contain the time of the answer, and the clock stands still.
      expect(answer?.data, name).toEqual(now);
      expect(await told(creation.orderNo), name).toEqual(events);
      expect(await benefitsOf(creation.orderNo), name).toBe(paymentStatus === 'SUCCESS' ? 2 : 0);
      expect(await attemptsOf(creation.orderNo), name).toEqual([
        { status: paymentStatus === 'PROCESSING' ? 'STARTED' : paymentStatus },
      ]);
      const again = await channel.call('orders/create', creation.request, { idempotencyKey: creation.key });
      expect(again.headers['idempotency-replayed'], name).toBe('true');
      expect(again.data, name).toEqual(answer?.data);
    }
    expect(on.institution.debits).toHaveLength(Object.keys(of).length);

    const shared = [of.one, of.two, of.three, of.bound, of.boundToo, of.declined].map(({ orderNo }) => orderNo);
    expect(await writersOf(shared)).toHaveLength(1);
    // The creation that lost its key to another node's run is not settled in the shared statement.
    expect(await writersOf([...shared, of.takenOver.orderNo])).toHaveLength(2);
    const [released] = await sql<{ number_released: boolean }>(
      'select number_released from orders join agreements using (agreement_id) where order_no = $1',
      [of.declined.orderNo],
    );
    expect(released).toEqual({ number_released: true });
    expect(await agreementOf(service.fresh.database, runsOnInvalid)).toMatchObject({ status: 'CANCELED' });
    expect((await channel.call('orders/query', { orderNo: runsOnInvalid })).data.orderStatus).toBe('UNSUBSCRIBED');
    expect((await alerts(service.fresh.database)).map(({ kind }) => kind)).toEqual([
      'debit-contradiction',
      'debit-wrong-amount',
    ]);
  });

  it('are settled one by one if the statement fails, and only the failing one is not', async () => {
    const bad = sharedRequest(channel);
    await sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$`,
    );
    await sql(`create trigger refuse before update on orders for each row
      when (new.external_order_no = '${bad.externalOrderNo}') execute function refuse()`);
    const good = { one: sharedRequest(channel), two: sharedRequest(channel), declined: sharedRequest(channel) };
    const scenes = await standing({ ...good, bad }, (name, debit) =>
      name === 'declined' ? declined('final') : paid(debit),
    );
    scenes.open();
    const { one, two, declined: refused, bad: failed } = scenes.of;
    expect((await failed.answer).code).toBe('500001');
    expect(await attemptsOf(failed.orderNo)).toEqual([{ status: 'STARTED' }]);
    expect(await told(failed.orderNo)).toEqual([]);
    for (const { answer, orderNo } of [one, two]) {
      expect((await answer).data).toMatchObject({ orderNo, orderStatus: 'ACTIVE' });
      expect(await told(orderNo)).toEqual(SUCCEEDED);
    }
    expect((await refused.answer).data).toMatchObject({ orderStatus: 'TERMINATED' });
    expect(await writersOf([one.orderNo, two.orderNo, refused.orderNo])).toHaveLength(3);

    await sql('drop trigger refuse on orders');
    const again = await channel.call('orders/create', failed.request, { idempotencyKey: failed.key });
    expect(again.data).toMatchObject({ orderNo: failed.orderNo, orderStatus: 'ACTIVE' });
    expect(on.institution.debits).toHaveLength(4);
    expect(on.institution.queries).toHaveLength(1);
    expect(await benefitsOf(failed.orderNo)).toBe(2);
  });

  it('without a key are settled the same way', async () => {
    const door = gate();
    on.institution.onDebit = async (debit) => {
      await door.stand();
      return paid(debit);
    };
    const answers = Array.from({ length: 5 }, () => channel.call('orders/create', sharedRequest(channel)));
    await expect.poll(() => on.institution.debits.length).toBe(5);
    door.open();
    const orderNos = (await Promise.all(answers)).map(({ data }) => data.orderNo as string);
    expect(await writersOf(orderNos)).toHaveLength(1);
    for (const orderNo of orderNos) expect(await told(orderNo)).toEqual(SUCCEEDED);
  });
});
