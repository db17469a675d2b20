import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DebitRequest } from '../../src/gateways/gateway.js';
import { gate, meetingOf } from '../agreements/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import {
  bindCard,
  collectRequest,
  encrypted,
  mobileOf,
  respelled,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';
import { until } from '../support/processes.js';
import { boundRequest, nodeOfFile, stageOfFile } from './stage-of-file.js';
import { agreementOf, alerts, paid } from './support.js';

/** Tests concurrent operations. Some of them are held back until all have begun. */

const { on, service, channel, sql, create, found, told } = stageOfFile();
const node = nodeOfFile(on);
/** The same channel, calling the other node. */
let there: ChannelClient;
beforeAll(() => {
  there = node.client(channel);
});
beforeEach(async () => {
  await on.askPending();
  await sql('delete from alerts');
  on.institution.reset();
});

const times = <T>(count: number, work: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => work(n));
const codes = (replies: readonly { code: string }[]) => replies.map(({ code }) => code).sort();
const agreementsOf = (user: string) =>
  sql<{ agreement_no: string; status: string }>(
    'select agreement_no, status from agreements where channel_user_id = $1 order by agreement_id',
    [user],
  );
const pending = async () => ({ kind: 'pending' }) as const;

/** Begins a creation whose debit waits until `open` is called. */
async function inFlight(request: object & { externalOrderNo: string }) {
  const held = gate();
  on.institution.onDebit = async (debit) => {
    await held.stand();
    return paid(debit);
  };
  const answer = channel.call('orders/create', request);
  await held.reached;
  on.institution.reset();
  const { data } = await channel.call('orders/query', { externalOrderNo: request.externalOrderNo });
  return { orderNo: data.orderNo as string, order: data, answer, open: held.open };
}

describe('unsubscribe', () => {
  it('during a first debit in flight: 420008, and the debit succeeds', async () => {
    const { orderNo, order, answer, open } = await inFlight(sharedRequest(channel));
    expect(order.orderStatus).toBe('INITIALIZING');
    const refused = await Promise.all([channel, there].map((by) => by.call('orders/unsubscribe', { orderNo })));
    expect(codes(refused)).toEqual(['420008', '420008']);
    open();
    expect((await answer).data.orderStatus).toBe('ACTIVE');
    expect((await channel.call('orders/unsubscribe', { orderNo })).code).toBe('0');
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
  });

  it('twenty at once, on two nodes: all succeed with the same answer, one event, one cancellation', async () => {
    const { orderNo } = await create(sharedRequest(channel));
    const replies = await Promise.all(
      times(20, (n) => (n % 2 ? channel : there).call('orders/unsubscribe', { orderNo, reason: `${n}` })),
    );
    expect(codes(replies)).toEqual(Array(20).fill('0'));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
    await on.cancelAgreements();
    const { agreement_no } = await agreementOf(service.fresh.database, orderNo);
    expect(on.institution.cancellations.filter(({ agreementNo }) => agreementNo === agreement_no)).toHaveLength(1);
  });

  it('of two orders on one agreement at once: the agreement is canceled by the last', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    const order = () => create(boundRequest(bindOrderNo));
    const orders = [await order(), await order()];
    let ended = 0;
    let both: Promise<{ code: string }[]> | undefined;
    // Locks the agreement until each of the two requests is done, or has written its order and waits for the agreement.
    await service.fresh.database.transaction(async (tx) => {
      await tx.query('select from agreements where agreement_id = $1 for update', [bindOrderNo]);
      both = Promise.all(
        orders.map(async ({ orderNo }) => {
          const reply = await channel.call('orders/unsubscribe', { orderNo });
          ended += 1;
          return reply;
        }),
      );
      await until('both wait or are through', async () => ended + (await lockWaits(service.fresh.database)) === 2);
    });
    expect(codes((await both) ?? [])).toEqual(['0', '0']);
    expect(await agreementOf(service.fresh.database, orders[0].orderNo)).toMatchObject({
      status: 'CANCELED',
      asked: true,
    });
  });

  it('and replace at once: either comes first, and no agreement stays in use', async () => {
    const outcomes = await Promise.all(
      times(10, async () => {
        const user = unique('user');
        const { orderNo } = await create(sharedRequest(channel, { channelUserId: user }));
        const newSharedAgreement = sharedAgreement(channel, user);
        const [ended, replaced] = await Promise.all([
          channel.call('orders/unsubscribe', { orderNo }),
          there.call('agreements/replace', { orderNo, newSharedAgreement }),
        ]);
        const statuses = (await agreementsOf(user)).map(({ status }) => status);
        return `${ended.code} ${replaced.code} ${statuses.join(' ')}`;
      }),
    );
    for (const outcome of outcomes) expect(['0 0 REPLACED CANCELED', '0 420003 CANCELED']).toContain(outcome);
  });
});

describe('replace', () => {
  it('twice at once: both answer, one agreement stays bound, the others are REPLACED', async () => {
    const user = unique('user');
    const { orderNo } = await create(sharedRequest(channel, { channelUserId: user }));
    const [original] = await agreementsOf(user);
    const replies = await Promise.all(
      [channel, there].map((by) =>
        by.call('agreements/replace', { orderNo, newSharedAgreement: sharedAgreement(channel, user) }),
      ),
    );
    expect(codes(replies)).toEqual(['0', '0']);
    const final = await agreementOf(service.fresh.database, orderNo);
    const olds = replies.map(({ data }) => data.oldAgreementNo);
    const news = replies.map(({ data }) => data.newAgreementNo);
    expect(olds).toContain(original?.agreement_no);
    expect(new Set(olds).size).toBe(2);
    expect(news).toContain(final.agreement_no);
    expect(olds).not.toContain(final.agreement_no);
    expect(
      (await agreementsOf(user))
        .map(({ agreement_no, status }) => [agreement_no === final.agreement_no, status])
        .sort(),
    ).toEqual([
      [false, 'REPLACED'],
      [false, 'REPLACED'],
      [true, 'BIND_SUCCESS'],
    ]);
  });
});

describe('one attempt settled concurrently', () => {
  /**
   * Runs two engines that both query the same attempt: the second engine leased it after the first engine's lease had
   * ended. Starts `others` at the same time.
   */
  async function meet(onQuery: (debit: DebitRequest) => ReturnType<typeof paid>, others: () => Promise<unknown>[]) {
    on.institution.onDebit = pending;
    const { orderNo } = await create(sharedRequest(channel));
    // A barrier for the two engines and this test, so that `others` start only after both engines have leased the
    // attempt.
    const meeting = meetingOf(3);
    on.institution.onQuery = async (debit) => {
      await meeting();
      return onQuery(debit as DebitRequest);
    };
    const first = on.askPending();
    await until('the first engine asks', () => on.institution.queries.length === 1);
    const second = on.askPending();
    await until('the second engine asks', () => on.institution.queries.length === 2);
    await meeting();
    expect((await Promise.all([first, second, ...others()])).slice(0, 2)).toEqual([1, 1]);
    return orderNo as string;
  }

  it('two engines and two notices, all with success: one set of events and benefits', async () => {
    let attemptNo = '';
    const orderNo = await meet(
      (debit) => paid(debit),
      () => {
        attemptNo = on.institution.queries[0]?.attemptNo ?? '';
        const outcome = paid({ ...(on.institution.queries[0] as DebitRequest) });
        return times(2, () => on.notice({ kind: 'debit', attemptNo, outcome }));
      },
    );
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await sql('select from benefits where order_no = $1', [orderNo])).toHaveLength(2);
    expect(await found(orderNo)).toMatchObject({ orderStatus: 'ACTIVE', totalPaidAmountCent: 1990 });
    expect(await alerts(service.fresh.database)).toEqual([]);
  });

  it('the engines report SUCCESS, a notice reports FAIL: one of them counts, the other raises an alert', async () => {
    const orderNo = await meet(
      (debit) => paid(debit),
      () => {
        const attemptNo = on.institution.queries[0]?.attemptNo ?? '';
        return [on.notice({ kind: 'debit', attemptNo, outcome: { kind: 'declined', decline: 'final', reason: 'no' } })];
      },
    );
    const { orderStatus, paymentRecords } = await found(orderNo);
    const [benefits, events] = [await sql('select from benefits where order_no = $1', [orderNo]), await told(orderNo)];
    expect([
      ['ACTIVE', 'SUCCESS', 2, ['SUCCESS', 'ACTIVE']],
      ['TERMINATED', 'FAIL', 0, ['FAIL', 'TERMINATED']],
    ]).toContainEqual([orderStatus, paymentRecords[0].paymentStatus, benefits.length, events]);
    expect(await alerts(service.fresh.database)).toEqual([
      expect.objectContaining({ kind: 'debit-contradiction', subject: `${orderNo}000101` }),
    ]);
  });

  it('an attempt is leased by one engine at a time', async () => {
    on.institution.onDebit = pending;
    await Promise.all(times(20, () => create(sharedRequest(channel))));
    await sql('update debit_attempts set ask_at = now() where ask_at is not null');
    const leased = await Promise.all(times(6, () => on.askDue()));
    expect(leased.reduce((sum, n) => sum + n)).toBe(20);
    expect(new Set(on.institution.queries.map(({ attemptNo }) => attemptNo)).size).toBe(20);
    expect(on.institution.queries).toHaveLength(20);
  });
});

const at = (n: number) => (n % 2 ? channel : there);

describe.each([
  ['A.2', sharedRequest, 'SUCCESS'],
  ['B', collectRequest, 'BILLED'],
])('orders/create in mode %s, many at once', (mode, requestOf, status) => {
  /** The number of agreements, debits and attempts of an order. */
  const debits = mode === 'A.2' ? 1 : 0;

  it('100 concurrent requests with one key, on two nodes, in two spellings: one order, one answer, one debit', async () => {
    const request = requestOf(channel);
    const raw = JSON.stringify(request);
    const idempotencyKey = unique('key');
    const other = respelled(channel, request);
    const replies = await Promise.all(
      times(100, (n) => at(n).call('orders/create', {}, { raw: n % 3 ? raw : other, idempotencyKey })),
    );
    expect(new Set(replies.map(({ code, data }) => `${code} ${JSON.stringify(data)}`)).size).toBe(1);
    expect(replies[0]?.code).toBe('0');
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(99);
    expect(on.institution.debits).toHaveLength(debits);
    expect(await agreementsOf(request.channelUserId)).toHaveLength(debits);
    expect(await told(replies[0]?.data.orderNo)).toEqual([status, 'ACTIVE']);
  });

  it.each([
    ['different keys', () => ({ idempotencyKey: unique('key') })],
    ['no keys', () => ({})],
  ])(
    '100 with one externalOrderNo and %s, on two nodes: one is created and debited, 99 get 420002',
    async (_what, options) => {
      const request = requestOf(channel);
      const replies = await Promise.all(times(100, (n) => at(n).call('orders/create', request, options())));
      expect(codes(replies)).toEqual(['0', ...Array(99).fill('420002')]);
      expect(on.institution.debits).toHaveLength(debits);
      expect(await agreementsOf(request.channelUserId)).toHaveLength(debits);
      expect(
        await sql('select from debit_attempts join orders using (order_no) where external_order_no = $1', [
          request.externalOrderNo,
        ]),
      ).toHaveLength(debits);
    },
  );
});

describe('orders/create, many at once', () => {
  it('one mobile for two users at once, on two nodes: one gets it, the other gets 410011 and is not debited', async () => {
    await Promise.all(
      times(20, async () => {
        const users = [unique('user'), unique('user')] as const;
        const mobileEncrypted = encrypted(channel, mobileOf(users[0]));
        const replies = await Promise.all(
          users.map((channelUserId, n) =>
            at(n).call('orders/create', sharedRequest(channel, { channelUserId, mobileEncrypted })),
          ),
        );
        expect(codes(replies)).toEqual(['0', '410011']);
        const rows = await sql('select from channel_users where channel_user_id = any($1)', [users]);
        expect(rows).toHaveLength(1);
      }),
    );
    expect(on.institution.debits).toHaveLength(20);
  });

  it('two mobiles for one user at once, on two nodes: one is bound, the other gets 410010', async () => {
    await Promise.all(
      times(20, async () => {
        const channelUserId = unique('user');
        const replies = await Promise.all(
          [channelUserId, unique('other')].map((whose, n) => {
            const mobileEncrypted = encrypted(channel, mobileOf(whose));
            return at(n).call('orders/create', collectRequest(channel, { channelUserId, mobileEncrypted }));
          }),
        );
        expect(codes(replies)).toEqual(['0', '410010']);
      }),
    );
  });

  it('order numbers are unique across nodes, and so are agreements and attempts', async () => {
    const replies = await Promise.all(times(120, (n) => at(n).call('orders/create', sharedRequest(channel))));
    expect(codes(replies)).toEqual(Array(120).fill('0'));
    const numbers = new Set(replies.map(({ data }) => data.orderNo));
    expect(numbers.size).toBe(120);
    const blocks = new Set([...numbers].map((number) => number.slice(0, -3)));
    expect(blocks.size).toBeGreaterThan(1);
    expect(new Set(on.institution.debits.map(({ attemptNo }) => attemptNo)).size).toBe(120);
    expect(new Set(on.institution.debits.map(({ institutionNo }) => institutionNo)).size).toBe(120);
  });
});

it('409002, then 0: an answer that cannot be stored in time is not mistaken for a foreign order', async () => {
  const raw = JSON.stringify(sharedRequest(channel));
  const idempotencyKey = unique('key');
  const row = gate();
  let held: Promise<void> = Promise.resolve();
  on.institution.onDebit = async (debit) => {
    // Between the creation's two transactions, a third transaction locks the row of the stored answer for longer than
    // the timeout.
    held = service.fresh.database.transaction(async (tx) => {
      await tx.query('select from idempotency where key = $1 for update', [idempotencyKey]);
      await row.stand();
    });
    await row.reached;
    return paid(debit);
  };
  const first = await channel.call('orders/create', undefined, { raw, idempotencyKey });
  expect(first.code, first.text).toBe('409002');
  row.open();
  await held;
  on.institution.reset();
  // Ends the lease of the first request.
  await sql('update idempotency set lease_until = now() where key = $1', [idempotencyKey]);
  const again = await until('an answer', async () => {
    const reply = await channel.call('orders/create', undefined, { raw, idempotencyKey });
    return reply.code === '409002' ? undefined : reply;
  });
  expect(again.code, again.text).toBe('0');
});

it('concurrent creations on a binding that the institution reports as invalid: none gets an internal error', async () => {
  const bindOrderNo = await bindCard(channel, unique('user'));
  const meeting = meetingOf(8);
  on.institution.onDebit = async () => {
    await meeting();
    return { kind: 'declined', decline: 'agreement-invalid', reason: 'gone' };
  };
  const replies = await Promise.all(
    times(8, (n) => (n % 2 ? channel : there).call('orders/create', boundRequest(bindOrderNo))),
  );
  expect(replies.map(({ code, data }) => [code, data?.orderStatus])).toEqual(Array(8).fill(['0', 'TERMINATED']));
});
