import { beforeAll, describe, expect, it } from 'vitest';
import { boundRequest, nodeOfFile, stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf, paid } from '../orders/support.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { askForCode, bind, cardOf, confirm } from './bridged.js';
import { meetingOf } from './support.js';

/** Tests a card that is bound again while something else happens to it or to its orders. */
const { on, service, channel, sql } = stageOfFile();
const node = nodeOfFile(on);
/** The same channel, calling the other node. */
let there: ChannelClient;
beforeAll(() => {
  there = node.client(channel);
});

const times = <T>(count: number, work: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => work(n));
const cardOfUser = () => ({
  channelUserId: unique('user'),
  bankCardNo: cardOf('8888'),
  paymentChannelCode: 'MOCKPAY',
});
type Card = ReturnType<typeof cardOfUser>;
const created = async (bindOrderNo: string) => {
  const reply = await channel.call('orders/create', boundRequest(bindOrderNo));
  expect(reply.code, reply.text).toBe('0');
  return reply.data.orderNo as string;
};
/** Requests codes for a card and returns the unconfirmed bindOrderNos. */
const codesFor = (card: Card, count: number) =>
  Promise.all(times(count, async () => (await askForCode(channel, card)).data.bindOrderNo as string));
const inForce = async ({ channelUserId }: Card) => {
  const rows = await sql<{ id: string; status: string }>(
    'select agreement_id::text as id, status from agreements where channel_user_id = $1',
    [channelUserId],
  );
  expect(rows.map(({ status }) => status).sort()).toEqual(['BIND_SUCCESS', ...Array(rows.length - 1).fill('REPLACED')]);
  return rows.find(({ status }) => status === 'BIND_SUCCESS')?.id ?? '';
};
const agreementIdOf = async (orderNo: string) =>
  String((await agreementOf(service.fresh.database, orderNo)).agreement_id);
const isBound = (reply: Reply) => expect(reply.data?.agreementStatus, reply.text).toBe('BIND_SUCCESS');

/**
 * Locks a row and starts the requests one by one, each as soon as the previous request waits for the row. Then releases
 * the row, so that the requests continue in the same sequence.
 */
async function behind(row: string, works: readonly (() => Promise<Reply>)[]): Promise<Reply[]> {
  const started: Promise<Reply>[] = [];
  await service.fresh.database.transaction(async (tx) => {
    await tx.query(row);
    for (const work of works) {
      started.push(work());
      await until('one more waits', async () => (await lockWaits(service.fresh.database)) === started.length);
    }
  });
  return Promise.all(started);
}

describe('a card bound again, concurrently with', () => {
  it('seven other confirmations on two nodes: all are answered, one is in force, and its orders use it', async () => {
    const card = cardOfUser();
    const first = await bind(channel, card);
    const orders = [await created(first), await created(first)];
    const bindings = await codesFor(card, 8);
    const together = meetingOf(8);
    const { confirmBind } = on.institution;
    on.institution.confirmBind = async (request) => {
      await together();
      return confirmBind(request);
    };
    const replies = await Promise.all(bindings.map((no, n) => confirm(n % 2 ? channel : there, no)));
    on.institution.confirmBind = confirmBind;
    for (const reply of replies) isBound(reply);
    const last = await inForce(card);
    expect(bindings).toContain(last);
    // Every bindOrderNo leads to the same binding.
    for (const bindOrderNo of [first, ...bindings]) orders.push(await created(bindOrderNo));
    for (const orderNo of orders) expect(await agreementIdOf(orderNo)).toBe(last);
    // Every other binding is canceled at the institution exactly once.
    await on.cancelAgreements();
    const canceled = on.institution.cancellations.map(({ institutionNo }) => institutionNo).sort();
    const others = [first, ...bindings].filter((no) => no !== last);
    expect(canceled).toEqual(others.map((no) => `inst-${no}`).sort());
  });

  it('another confirmation, without an earlier binding: one of them takes over', async () => {
    for (let round = 0; round < 10; round += 1) {
      const card = cardOfUser();
      const [one = '', other = ''] = await codesFor(card, 2);
      const replies = await Promise.all([confirm(channel, one), confirm(there, other)]);
      for (const reply of replies) isBound(reply);
      const last = await inForce(card);
      expect(await agreementIdOf(await created(one))).toBe(last);
      expect(await agreementIdOf(await created(other))).toBe(last);
    }
  });

  it.each([
    ['first: the order moves too', false],
    ['second: the order is on the new binding', true],
  ])('the creation of an order, which comes %s', async (_what, isSecond) => {
    const card = cardOfUser();
    const first = await bind(channel, card);
    const earlier = await created(first);
    const [second = ''] = await codesFor(card, 1);
    const inOrder = <T>(works: T[]) => (isSecond ? works.toReversed() : works);
    const replies = await behind(
      `select from agreements where agreement_id = ${first} for update`,
      inOrder([() => there.call('orders/create', boundRequest(first)), () => confirm(channel, second)]),
    );
    const [order, bound] = inOrder(replies);
    isBound(bound as Reply);
    expect(order?.data.orderStatus, order?.text).toBe('ACTIVE');
    for (const orderNo of [earlier, order?.data.orderNo]) expect(await agreementIdOf(orderNo)).toBe(second);
    expect(await inForce(card)).toBe(second);
    if (isSecond) expect(on.institution.debits.at(-1)?.institutionNo).toBe(`inst-${second}`);
  });

  it('the unsubscription of its order, in either order', async () => {
    for (const isSecond of [false, true]) {
      const card = cardOfUser();
      const first = await bind(channel, card);
      const orderNo = await created(first);
      const [second = ''] = await codesFor(card, 1);
      const works = [() => confirm(channel, second), () => there.call('orders/unsubscribe', { orderNo })];
      const row = `select from orders where order_no = ${orderNo} for update`;
      const replies = await behind(row, isSecond ? works.toReversed() : works);
      expect(replies.map(({ code }) => code)).toEqual(['0', '0']);
      const statuses = await sql<{ status: string }>(
        'select status from agreements where channel_user_id = $1 order by agreement_id',
        [card.channelUserId],
      );
      // The order ended either on the old binding, or on the new binding after the order was moved.
      expect([
        ['CANCELED', 'BIND_SUCCESS'],
        ['REPLACED', 'CANCELED'],
      ]).toContainEqual(statuses.map(({ status }) => status));
    }
  });

  it('the end of the old number by the institution: the order has either ended or moved', async () => {
    for (let round = 0; round < 10; round += 1) {
      const card = cardOfUser();
      const first = await bind(channel, card);
      const orderNo = await created(first);
      const [second = ''] = await codesFor(card, 1);
      const [bound] = await Promise.all([
        confirm(there, second),
        on.notice({ kind: 'agreement-canceled', institutionNo: `inst-${first}`, reason: 'closed' }),
      ]);
      isBound(bound);
      const { orderStatus } = (await channel.call('orders/query', { orderNo })).data;
      const { agreement_id, status } = await agreementOf(service.fresh.database, orderNo);
      expect([`ACTIVE BIND_SUCCESS ${second}`, `UNSUBSCRIBED CANCELED ${first}`]).toContain(
        `${orderStatus} ${status} ${agreement_id}`,
      );
    }
  });

  it('renewals, results, new orders and endings: no deadlock, and no period is paid twice', async () => {
    for (let round = 0; round < 6; round += 1) {
      const card = cardOfUser();
      const first = await bind(channel, card);
      const [ending, ...going] = await Promise.all(times(5, () => created(first)));
      on.institution.onDebit = async () => ({ kind: 'pending' });
      const waiting = await created(first);
      on.institution.onDebit = async (request) => paid(request);
      const bindings = await codesFor(card, 3);
      const replies = await Promise.all([
        ...bindings.map((no, n) => confirm(n % 2 ? channel : there, no)),
        ...bindings.map((_, n) => (n % 2 ? channel : there).call('orders/create', boundRequest(first))),
        there.call('orders/unsubscribe', { orderNo: ending }),
        on.renew().then(() => undefined),
        on.askPending().then(() => undefined),
      ]);
      for (const reply of replies) if (reply) expect(reply.code, reply.text).toBe('0');
      const last = await inForce(card);
      const running = await sql<{ id: string }>(
        `select agreement_id::text as id from orders where channel_user_id = $1 and status in ('ACTIVE', 'INITIALIZING')`,
        [card.channelUserId],
      );
      expect(running.map(({ id }) => id)).toEqual(Array(going.length + 1 + bindings.length).fill(last));
      await on.askPending();
      expect((await channel.call('orders/query', { orderNo: waiting })).data.orderStatus).toBe('ACTIVE');
    }
    const twice = await sql(
      `select order_no, cycle_no from debit_attempts where status = 'SUCCESS' group by 1, 2 having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  });
});
