import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { gate } from '../agreements/support.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { send } from '../support/channel-client.js';
import { bindCard, collectRequest, demoChannel, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

const GATE = 4_711;
/** The number of connections that one channel may use. The test database has 16 connections. */
const SHARE = 5;

/** Routes that hold a connection while the gate is closed. */
const ROUTES = [
  testRoute('test/at-the-gate', async ({ database, answer }) => {
    await database.transaction(async (tx) => {
      await tx.query('set local lock_timeout = 0');
      await tx.query('select pg_advisory_xact_lock($1)', [GATE]);
    });
    return answer(DONE);
  }),
];

const { service, channel: greedy } = serviceOfFile(
  { moreRoutes: ROUTES, testLimits: { shareLimits: { waitMs: 60_000 } } },
  demoChannel,
);
let bystander: ChannelClient;
beforeAll(async () => {
  bystander = await anotherChannel(service);
});

const BODY = { orderNo: '1' };

/** Runs `work` while the gate is closed. `held` returns the number of connections that wait at the gate. */
async function withGateClosed<T>(work: (held: () => Promise<number>) => Promise<T>): Promise<T> {
  const gate = openDatabase({ url: service.fresh.url, pool: 1, name: 'test gate' });
  const held = async () => {
    const [row] = await service.fresh.database.query<{ n: number }>(
      `select count(*)::integer as n from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`,
    );
    return row?.n ?? 0;
  };
  try {
    return await gate.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [GATE]);
      return work(held);
    });
  } finally {
    await gate.close();
  }
}

describe('a channel whose requests hold connections for a long time', () => {
  it('uses only its share, and another channel is not affected', async () => {
    const replies = await withGateClosed(async (held) => {
      const waiting = Array.from({ length: 60 }, () => greedy.call('test/at-the-gate', BODY));
      await until('the share is used up', async () => (await held()) === SHARE);
      for (let n = 0; n < 10; n += 1) {
        const created = await bystander.call('orders/create', collectRequest(bystander));
        const { orderNo } = created.data;
        const bodies = {
          'orders/query': { orderNo },
          'orders/list': { channelUserId: unique('nobody') },
          'events/list': {},
          'products/list': { size: 1 },
          'orders/unsubscribe': { orderNo },
        };
        for (const [name, body] of Object.entries(bodies)) {
          expect([name, (await bystander.call(name, body)).code]).toEqual([name, '0']);
        }
        expect((await bystander.call('orders/create', sharedRequest(bystander))).code).toBe('0');
      }
      expect(await held()).toBe(SHARE);
      const metrics = await send(service.baseUrl, 'GET', '/metrics', {}, Buffer.alloc(0));
      expect(metrics.text).toMatch(new RegExp(`^perennial_share_waiting ${60 - SHARE}$`, 'm'));
      return waiting;
    });
    expect(new Set((await Promise.all(replies)).map(({ code }) => code))).toEqual(new Set(['0']));
  });

  it('can still use endpoints without a connection of their own: tokens, provisioned lists, orders/query', async () => {
    const { data } = await greedy.call('orders/create', collectRequest(greedy));
    const replies = await withGateClosed(async (held) => {
      const waiting = Array.from({ length: 20 }, () => greedy.call('test/at-the-gate', BODY));
      await until('the share is used up', async () => (await held()) === SHARE);
      expect((await greedy.call('orders/query', { orderNo: data.orderNo })).code).toBe('0');
      expect((await greedy.call('orders/create', collectRequest(greedy))).code).toBe('0');
      expect((await greedy.callBare('auth/token', { grantType: 'client_credentials', appId: 'test_demo' })).code).toBe(
        '0',
      );
      return waiting;
    });
    await Promise.all(replies);
  });

  it('429001: with Retry-After, for a request that waited too long and was not begun', async () => {
    const node = await anotherNode(service, {
      moreRoutes: ROUTES,
      databasePool: 8,
      testLimits: { shareLimits: { waitMs: 50 } },
    });
    const client = node.client(greedy);
    const { data } = await client.call('orders/create', collectRequest(greedy));
    const key = { idempotencyKey: unique('key') };
    const unsubscribe = () => client.call('orders/unsubscribe', { orderNo: data.orderNo }, key);
    const waiting = await withGateClosed(async (held) => {
      const atTheGate = [1, 2].map(() => client.call('test/at-the-gate', BODY));
      await until('the share is used up', async () => (await held()) === 2);
      const refused = await unsubscribe();
      expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([429, '429001', '1']);
      return atTheGate;
    });
    await Promise.all(waiting);
    const done = await unsubscribe();
    expect([done.code, done.data.orderStatus, done.headers['idempotency-replayed']]).toEqual([
      '0',
      'UNSUBSCRIBED',
      undefined,
    ]);
    await node.close();
  });

  it('503001: with Retry-After, for a begun request, because part of it may be done', async () => {
    const between = gate();
    const twoSteps = testRoute('test/two-steps', async ({ database, answer }) => {
      await database.query('select 1');
      await between.stand();
      await database.query('select 2');
      return answer(DONE);
    });
    const moreRoutes = [...ROUTES, twoSteps];
    const node = await anotherNode(service, {
      moreRoutes,
      databasePool: 8,
      testLimits: { shareLimits: { waitMs: 50 } },
    });
    const client = node.client(greedy);
    const first = client.call('test/two-steps', BODY);
    await between.reached;
    const waiting = await withGateClosed(async (held) => {
      const atTheGate = [1, 2].map(() => client.call('test/at-the-gate', BODY));
      await until('the share is used up', async () => (await held()) === 2);
      between.open();
      const reply = await first;
      expect([reply.status, reply.code, reply.headers['retry-after']]).toEqual([503, '503001', '1']);
      return atTheGate;
    });
    await Promise.all(waiting);
    await node.close();
  });
});

describe('a node that may use one connection at a time', () => {
  it('answers every endpoint and the redemption page: no request needs a second connection', async () => {
    const one = { testLimits: { shareLimits: { perChannel: 1, total: 1, waitMs: 1_000 } } };
    const node = await anotherNode(service, one);
    const client = node.client(greedy);
    const user = unique('user');
    const bindOrderNo = await bindCard(client, user);
    const bound = { settlementMode: 'SVC_DEDUCT', productCode: 'TEST_SPU_001', bindOrderNo };
    const made = await client.call('orders/create', { ...bound, externalOrderNo: unique('order') });
    const { orderNo, redeemUrl } = made.data;
    const sharing = unique('user');
    const shared = (await client.call('orders/create', sharedRequest(greedy, { channelUserId: sharing }))).data;
    const newSharedAgreement = sharedAgreement(greedy, sharing);
    const paymentOrderNo = made.data.paymentRecords[0].paymentOrderNo;
    const calls: readonly (readonly [string, object])[] = [
      ['products/list', { size: 1 }],
      ['payment-channels/list', { size: 1 }],
      ['agreements/user-data', { channelUserId: user }],
      ['orders/create', collectRequest(greedy)],
      ['orders/query', { orderNo }],
      ['orders/list', { channelUserId: user }],
      ['payments/query', { paymentOrderNo }],
      ['sandbox/orders/advance', { orderNo, cycles: 1 }],
      ['events/list', { orderNo }],
      ['events/replay', { from: '2026-01-01 00:00:00' }],
      ['agreements/replace', { orderNo: shared.orderNo, newSharedAgreement }],
      ['orders/unsubscribe', { orderNo: shared.orderNo }],
    ];
    for (const [name, body] of calls) {
      expect([name, (await client.call(name, body, { idempotencyKey: unique('key') })).code]).toEqual([name, '0']);
    }
    const { pathname, search } = new URL(redeemUrl);
    const page = await send(node.baseUrl, 'GET', pathname + search, {}, Buffer.alloc(0));
    expect(page.status).toBe(200);
    await node.close();
  });
});
