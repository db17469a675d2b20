import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Queryable } from '../../src/platform/db/database.js';
import { ofFile, stageOfFile } from '../orders/stage-of-file.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { bindCard, collectRequest, encrypted, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

const NAME = 'held-up node';

/**
 * The node waits for a lock at most 0.1 s, and its sleeping statement is canceled after 0.05 s. The usual limits are 5
 * s and 6 s.
 */
const { on } = stageOfFile();
const sleeping = testRoute('test/sleeping', async ({ database, answer }) => {
  await database.transaction(async (tx) => {
    await tx.query('set local statement_timeout = 50');
    await tx.query('select pg_sleep(60)');
  });
  return answer(DONE);
});
const node = ofFile(async () => {
  const { url } = on.service.fresh;
  const database = openDatabase({ url, pool: 8, name: NAME, settings: { lock_timeout: '100ms' } });
  return anotherNode(on.service, { database, moreRoutes: [sleeping] });
});
let channel: ChannelClient;
beforeAll(() => {
  channel = node.client(on.channel);
});

const expectHeldUp = (reply: Reply) =>
  expect([reply.status, reply.code, reply.headers['retry-after'], reply.data]).toEqual([503, '503001', '1', null]);

/**
 * Sends the request while another session holds locks that the request needs. Sends it again after the locks were
 * released.
 */
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

describe('503001 while another session holds a lock for too long, then 0 for the resend', () => {
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

  it('orders/create: another transaction is storing the same number; other orders are not delayed', async () => {
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

  it('a statement that exceeds its limit loses no connection', async () => {
    const before = await connections();
    for (let n = 0; n < 5; n += 1) expectHeldUp(await channel.call('test/sleeping', { orderNo: '1' }));
    expect(await connections()).toEqual(expect.arrayContaining(before));
  });
});

const connections = () =>
  on.service.fresh.database.query('select pid from pg_stat_activity where application_name = $1 order by pid', [NAME]);
