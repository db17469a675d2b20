import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, type Queryable, SESSION } from '../../src/db/database.js';
import { anotherChannel, type Stage, stage } from '../orders/support.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { bindCard, collectRequest, encrypted, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

const NAME = 'held-up node';

/** A node that waits a tenth of a second for a lock instead of ten, and as long for a statement that a test lets sleep. */
let on: Stage;
let database: Database;
let node: Node;
let channel: ChannelClient;
beforeAll(async () => {
  on = await stage();
  const url = new URL(on.service.fresh.url);
  url.searchParams.set('options', `${SESSION} -c lock_timeout=100ms`);
  database = openDatabase({ url: url.href, pool: 8, name: NAME });
  const moreRoutes = [
    testRoute('test/sleeping', async ({ database: own, answer }) => {
      await own.transaction(async (tx) => {
        await tx.query('set local statement_timeout = 50');
        await tx.query('select pg_sleep(60)');
      });
      return answer(DONE);
    }),
  ];
  node = await anotherNode(on.service, { database, moreRoutes });
  channel = node.client(on.channel);
});
afterAll(async () => {
  await node.close();
  await on.close();
});

const expectHeldUp = (reply: Reply) =>
  expect([reply.status, reply.code, reply.headers['retry-after'], reply.data]).toEqual([503, '503001', '1', null]);

/** The request while somebody holds what it needs, and then once more. */
async function heldUp(hold: (tx: Queryable) => Promise<unknown>, request: () => Promise<Reply>): Promise<Reply> {
  await on.service.fresh.database.transaction(async (tx) => {
    await hold(tx);
    expectHeldUp(await request());
  });
  const again = await request();
  expect(again.code).toBe('0');
  return again;
}

const lockOrder = (orderNo: string) => (tx: Queryable) =>
  tx.query('select from orders where order_no = $1 for update', [orderNo]);

describe('503001: what somebody else holds for too long, and code 0 when it is sent again', () => {
  it.each<[string, (orderNo: string) => object]>([
    ['orders/unsubscribe', (orderNo) => ({ orderNo })],
    ['sandbox/orders/advance', (orderNo) => ({ orderNo, cycles: 1 })],
  ])('%s', async (name, body) => {
    const { orderNo } = (await channel.call('orders/create', collectRequest(channel))).data;
    const key = { idempotencyKey: unique('key') };
    const { data } = await heldUp(lockOrder(orderNo), () => channel.call(name, body(orderNo), key));
    expect(data.orderNo).toBe(orderNo);
  });

  it('agreements/replace', async () => {
    const user = unique('user');
    const { orderNo } = (await channel.call('orders/create', sharedRequest(channel, { channelUserId: user }))).data;
    const body = { orderNo, newSharedAgreement: sharedAgreement(channel, user) };
    await heldUp(lockOrder(orderNo), () => channel.call('agreements/replace', body));
  });

  it('agreements/bind-confirm', async () => {
    const user = unique('user');
    const bindOrderNo = await bindCard(channel, user);
    await on.service.fresh.database.query(
      `update agreements set status = 'BIND_ING', agreement_no = null where agreement_id = $1`,
      [bindOrderNo],
    );
    const hold = (tx: Queryable) =>
      tx.query('select from agreements where agreement_id = $1 for update', [bindOrderNo]);
    const confirmation = { bindOrderNo, smsCodeEncrypted: encrypted(channel, '123456') };
    await heldUp(hold, () => channel.call('agreements/bind-confirm', confirmation));
  });

  it('orders/create: a number that another transaction is about to take; an order beside it is not held up', async () => {
    const request = collectRequest(channel);
    const hold = (tx: Queryable) =>
      tx.query(
        `insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single)
         select $1, channel_id, 1, key_of('x'), now(), false from channels limit 1`,
        [request.externalOrderNo],
      );
    await on.service.fresh.database
      .transaction(async (tx) => {
        await hold(tx);
        const [held, beside] = await Promise.all([
          channel.call('orders/create', request),
          channel.call('orders/create', collectRequest(channel)),
        ]);
        expectHeldUp(held);
        expect(beside.code).toBe('0');
        throw new Error('never mind');
      })
      .catch(() => undefined);
    expect((await channel.call('orders/create', request)).code).toBe('0');
  });

  it('a list, while somebody has the whole table', async () => {
    await channel.call('orders/create', collectRequest(channel));
    await heldUp(
      (tx) => tx.query('lock table events in access exclusive mode'),
      () => channel.call('events/list', {}),
    );
  });

  it('a statement that takes longer than it may', async () => {
    expectHeldUp(await channel.call('test/sleeping', { orderNo: '1' }));
  });

  it('and no connection is lost over it', async () => {
    const before = await connections();
    for (let n = 0; n < 5; n += 1) expectHeldUp(await channel.call('test/sleeping', { orderNo: '1' }));
    expect(await connections()).toEqual(expect.arrayContaining(before));
  });
});

describe('orders/create has a limit of its own, far below that of other statements', () => {
  let patient: Node;
  let own: Database;
  beforeAll(async () => {
    const url = new URL(on.service.fresh.url);
    url.searchParams.set('options', `${SESSION} -c lock_timeout=0 -c statement_timeout=0`);
    own = openDatabase({ url: url.href, pool: 8, name: 'patient node' });
    patient = await anotherNode(on.service, { database: own });
  });
  afterAll(async () => {
    await patient.close();
    await own.close();
  });

  it('503001: orders that are held up, any number of one channel; an order of another is not, though it went with them', async () => {
    const there = patient.client(on.channel);
    const neighbour = patient.client(await anotherChannel(on.service));
    await Promise.all([there.getToken(), neighbour.getToken()]);
    const requests = Array.from({ length: 12 }, () => collectRequest(there));
    const call = (request: object) => there.call('orders/create', request);
    const taken = `insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single)
      select no, channel_id, 1, key_of('x'), now(), false from (select * from channels limit 1) c, unnest($1::text[]) no`;
    await on.service.fresh.database
      .transaction(async (tx) => {
        await tx.query(taken, [requests.map(({ externalOrderNo }) => externalOrderNo)]);
        const [beside, ...held] = await Promise.all([
          neighbour.call('orders/create', collectRequest(neighbour)),
          ...requests.map(call),
        ]);
        expect(beside?.code).toBe('0');
        held.forEach(expectHeldUp);
        throw new Error('never mind');
      })
      .catch((error: Error) => expect(error.message).toBe('never mind'));
    const again = await Promise.all(requests.map(call));
    expect(again.map(({ code }) => code)).toEqual(requests.map(() => '0'));
  });
});

const connections = () =>
  on.service.fresh.database.query('select pid from pg_stat_activity where application_name = $1 order by pid', [NAME]);
