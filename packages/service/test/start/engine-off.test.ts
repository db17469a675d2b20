import { ENDPOINTS } from '@perennial/wire';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { perennial } from '../cli/perennial.js';
import { ofFile, stageOfFile } from '../orders/stage-of-file.js';
import { type ChannelClient, channelClient, send } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { serviceUrl, until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';

/** Tests ENGINE=off, for inspecting a copy of a database: the node debits, bills and sends nothing. */
const { on } = stageOfFile();
const copy = ofFile(() =>
  anotherNode(on.service, { gateways: { of: async () => on.institution }, readsOnly: true, engine: true }),
);
let reader: ChannelClient;
let orderNo: string;
let redeemPath: string;
beforeAll(async () => {
  const created = await on.channel.call('orders/create', sharedRequest(on.channel));
  ({ orderNo } = created.data);
  redeemPath = created.data.redeemUrl.replace(/^https:\/\/[^/]+/, '');
  reader = copy.client(on.channel);
});

const asked = () => [...on.institution.debits, ...on.institution.queries, ...on.institution.cancellations];

describe('a node with ENGINE=off', () => {
  it('answers reads', async () => {
    for (const [name, body] of [
      ['products/list', {}],
      ['payment-channels/list', {}],
      ['orders/query', { orderNo }],
      ['payments/query', { paymentOrderNo: `${orderNo}0001` }],
      ['events/list', {}],
    ] as const) {
      expect((await reader.call(name, body)).code, name).toBe('0');
    }
    const page = await send(copy.baseUrl, 'GET', redeemPath, {}, Buffer.alloc(0));
    expect(page.status).toBe(200);
  });

  it('503001 for all writes, before anything is stored or sent', async () => {
    const writing = Object.values(ENDPOINTS).filter(({ write }) => write);
    expect(writing.length).toBeGreaterThan(5);
    for (const { name } of writing) {
      const reply = await reader.call(name, {});
      expect([reply.status, reply.code, reply.headers['retry-after']], name).toEqual([503, '503001', '60']);
      expect(reply.envelope.message).toBe('the engine is off: this node serves reads only');
    }
    const before = await on.service.fresh.database.query('select count(*) from orders');
    expect((await reader.call('orders/create', collectRequest(on.channel))).code).toBe('503001');
    expect((await reader.call('orders/create', sharedRequest(on.channel))).code).toBe('503001');
    expect(await on.service.fresh.database.query('select count(*) from orders')).toEqual(before);
    expect(asked()).toEqual([]);
  });

  it('503 for the forms of the redemption page', async () => {
    for (const form of ['/redeem/claim', '/redeem/unsubscribe']) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect((await send(copy.baseUrl, 'POST', form, headers, Buffer.from('a=b'))).status).toBe(503);
    }
  });

  it('503001 for notices of institutions, which send them again', async () => {
    const notice = { kind: 'agreement-canceled', institutionNo: 'x', reason: 'x' };
    const body = Buffer.from(JSON.stringify(notice));
    const reply = await send(copy.baseUrl, 'POST', '/gateway/v1/notices/MOCKPAY', {}, body);
    expect([reply.status, reply.code]).toEqual([503, '503001']);
  });

  it('is shown by /readyz', async () => {
    const state = async (baseUrl: string) => (await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).data;
    expect(await state(copy.baseUrl)).toEqual({ status: 'ready', engine: 'off' });
    expect(await state(on.service.baseUrl)).toEqual({ status: 'ready', engine: 'on' });
  });
});

describe('a process with ENGINE=off', () => {
  it('debits, bills and sends nothing; a node with the engine on does all of it', async () => {
    const [idle, busy] = [await sold(), await sold()];
    await idle.end();
    const before = await idle.state();
    const node = idle.fresh.node({ ENGINE: 'off' });
    await serviceUrl(node);
    expect(node.stderr()).toMatch(/Engine +off/);
    await until('the line in the log', async () => node.stdout().includes('ENGINE is off'));
    for (const { fresh } of [idle, busy])
      await fresh.database.query(`update orders set next_due_at = now() - interval '1 minute'`);
    // Waits until the other node has renewed its two orders. Any work of this node would have begun by then.
    await until('periods of both orders', async () => (await busy.state()).periods === 4);
    expect(await idle.state()).toEqual(before);
    const [row] = await idle.fresh.database.query<{ orderNo: string }>(
      `select order_no::text as "orderNo" from orders where settlement_mode = 'SVC_DEDUCT'`,
    );
    const ran = await perennial(['order', 'refund', row?.orderNo ?? '', '1'], { ...idle.fresh.env, ENGINE: 'off' });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('ENGINE is off') });
    expect(await idle.fresh.database.query('select * from refunds')).toEqual([]);
  });
});

/** Creates an installation with an order of each mode, and starts the node that creates them. */
async function sold() {
  const fresh = await installation();
  onTestFinished(fresh.close);
  const node = fresh.node();
  const end = async () => {
    node.child.kill('SIGTERM');
    await node.exited;
  };
  const client = channelClient(await serviceUrl(node), await fresh.demo());
  expect((await client.call('orders/create', collectRequest(client))).code).toBe('0');
  expect((await client.call('orders/create', sharedRequest(client))).code).toBe('0');
  const state = async () => {
    const [row] = await fresh.database.query<{ periods: number; debits: number; events: number; sending: number }>(
      `select (select count(*) from payments) as periods, (select count(*) from debit_attempts) as debits,
         (select count(*) from events) as events, (select count(*) from delivery_shards where owner is not null) as sending`,
    );
    return row ?? { periods: 0, debits: 0, events: 0, sending: 0 };
  };
  return { fresh, state, end };
}
