import { afterAll, describe, expect, it } from 'vitest';
import type { HttpLimits } from '../../src/http/limits/http-limits.js';
import { authorizeProduct } from '../../src/operator/provisioning/products.js';
import { gate } from '../agreements/support.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { type ChannelClient, type Reply, send } from '../support/channel-client.js';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { type SlowCaller, slowCall } from '../support/unread.js';
import { anotherChannel, copyOrder, dailyProduct, paid, type Stage, stage } from './support.js';

/**
 * Tests callers that disconnect, do not read, or read slowly: the service stops rendering their answers, and other
 * callers are not affected.
 */

/**
 * The number of orders of 9,999 periods. Together they are 50 MB, far more than the network buffers while nobody reads.
 */
const ORDERS = 30;

interface World extends Stage {
  readonly log: CapturedLog;
  /** The user who has the orders. */
  readonly user: string;
  /** Returns how many links were created since the test began: one for each order that was rendered. */
  links(): number;
  failAtLink(number: number): void;
}

/** One world for all tests with the same limits. Each test leaves it idle. */
const worlds = new Map<string, World>();
afterAll(async () => {
  for (const world of worlds.values()) await world.close();
});

async function world(httpLimits: Partial<HttpLimits> = {}): Promise<World> {
  const key = JSON.stringify(httpLimits);
  const found = worlds.get(key) ?? (await newWorld(httpLimits));
  worlds.set(key, found);
  found.institution.reset();
  found.failAtLink(Number.POSITIVE_INFINITY);
  return found;
}

async function newWorld(httpLimits: Partial<HttpLimits>): Promise<World> {
  const log = capturedLog();
  let links = 0;
  let failAt = Number.POSITIVE_INFINITY;
  const publicUrl = () => {
    links += 1;
    if (links >= failAt) throw new Error('a fault on purpose');
    return 'https://pay.example';
  };
  const on = await stage({ log: log.log, testLimits: { httpLimits }, publicUrl });
  await dailyProduct(on.service, 'DAYS_9999', 9999);
  const { user } = await longOrders(on, on.channel);
  return {
    ...on,
    log,
    user,
    links: () => links,
    failAtLink(number) {
      links = 0;
      failAt = number;
    },
  };
}

/** Creates the orders of a user of the channel. */
async function longOrders(on: Stage, client: ChannelClient) {
  const user = unique('user');
  const request = collectRequest(client, { channelUserId: user, productCode: 'DAYS_9999' });
  const { orderNo } = (await client.call('orders/create', request)).data;
  await copyOrder(on.service.fresh.database, orderNo, ORDERS - 1);
  return { client, orderNo: orderNo as string, user };
}

const list = (on: World, requestId: string, version: 'HTTP/1.0' | 'HTTP/1.1' = 'HTTP/1.1') =>
  slowCall(on.service.baseUrl, on.channel, 'orders/list', { channelUserId: on.user }, { requestId, version });

/** Waits for the log line of a request. */
const lineOf = (on: World, requestId: string) =>
  until(`the line of ${requestId}`, () =>
    on.log.lines().find((line) => line.msg === 'request' && line.requestId === requestId),
  );

async function metric(on: World, line: string): Promise<number> {
  const { text } = await send(on.service.baseUrl, 'GET', '/metrics', {}, Buffer.alloc(0));
  return Number(text.match(new RegExp(`^${line.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm'))?.[1] ?? 0);
}
const open = (on: World) => metric(on, 'perennial_long_answers{state="open"}');
const waiting = (on: World) => metric(on, 'perennial_long_answers{state="waiting"}');

describe('a caller that disconnects', () => {
  it("in the middle of a list: the rest is not rendered, and the request's log line has it", async () => {
    const on = await world();
    const caller = await list(on, 'hung-up-1');
    await caller.readSome();
    expect(await open(on)).toBe(1);
    caller.hangUp();
    expect(await lineOf(on, 'hung-up-1')).toMatchObject({ status: 200, code: '0', cut: 'hung-up' });
    expect(on.links()).toBeGreaterThan(0);
    expect(on.links()).toBeLessThan(ORDERS / 2);
    expect(await open(on)).toBe(0);
    expect(await metric(on, 'perennial_http_answers_cut_total{why="hung-up"}')).toBe(1);
    // The request is counted with status 499 and without a code, because the caller received no answer.
    const told = (status: string, code: string) =>
      metric(on, `perennial_http_requests_total{endpoint="/openapi/v1/orders/list",status="${status}",code="${code}"}`);
    expect([await told('499', ''), await told('500', '500001')]).toEqual([1, 0]);
  });

  it('before the answer: the request is carried out, and its log line has the code', async () => {
    const on = await world();
    const debiting = gate();
    on.institution.onDebit = async (request) => {
      await debiting.stand();
      return paid(request);
    };
    const request = sharedRequest(on.channel);
    const caller = await slowCall(on.service.baseUrl, on.channel, 'orders/create', request, { requestId: 'hung-up-2' });
    await debiting.reached;
    caller.hangUp();
    // Waits until the service has noticed the disconnection, which happens in a later event-loop turn.
    await new Promise((resolve) => caller.socket.once('close', resolve));
    await send(on.service.baseUrl, 'GET', '/healthz', {}, Buffer.alloc(0));
    debiting.open();
    expect(await lineOf(on, 'hung-up-2')).toMatchObject({ status: 200, code: '0', cut: 'hung-up' });
    const { data } = await on.channel.call('orders/query', { externalOrderNo: request.externalOrderNo });
    expect(data.orderStatus).toBe('ACTIVE');
  });
});

describe('a caller that does not read', () => {
  it('is disconnected after a while, and its place is free again', async () => {
    const on = await world({ writeTimeout: 200 });
    await list(on, 'unread-1');
    expect(await lineOf(on, 'unread-1')).toMatchObject({ status: 200, code: '0', cut: 'unread' });
    expect(on.links()).toBeLessThan(ORDERS / 2);
    expect(await open(on)).toBe(0);
  });

  it('is disconnected too if its answers are short and many', async () => {
    const on = await world({ writeTimeout: 200 });
    const raw = rawConnection(on.service.baseUrl);
    raw.socket.pause();
    const closed = new Promise<void>((resolve) => raw.socket.once('error', () => resolve()));
    const ask = requestBytes('/metrics', {}, '', 'GET');
    const asking = setInterval(() => raw.write(Buffer.concat(Array.from({ length: 50 }, () => ask))), 5);
    await closed;
    clearInterval(asking);
    raw.close();
  });

  it('is disconnected too if it has read a little, once the answer has taken too long', async () => {
    const on = await world({ answerTimeout: 500 });
    const caller = await list(on, 'slow-1');
    // On a slow machine the service closes the connection before the caller has read anything.
    await caller.readSome().catch(() => undefined);
    expect(await lineOf(on, 'slow-1')).toMatchObject({ status: 200, code: '0', cut: 'slow' });
  });

  it('a caller that reads everything gets everything', async () => {
    const on = await world();
    const caller = await list(on, 'whole-1');
    const text = await caller.readAll();
    expect(text.match(/"paymentRecords":/g)).toHaveLength(ORDERS);
    expect(text.length).toBeGreaterThan(ORDERS * 1_500_000);
    const line = await lineOf(on, 'whole-1');
    expect(line).toMatchObject({ status: 200, code: '0' });
    expect(line.cut).toBeUndefined();
    caller.hangUp();
  });
});

describe('500001 in the middle of an answer', () => {
  it.each([['HTTP/1.1'], ['HTTP/1.0']] as const)(
    '%s: the connection is reset, and the log has the request id',
    async (version) => {
      const on = await world();
      const requestId = `fault-${version}`.replace('/', '-');
      on.failAtLink(12);
      const caller = await list(on, requestId, version);
      await expect(caller.readAll()).rejects.toThrow(/ECONNRESET/);
      expect(await lineOf(on, requestId)).toMatchObject({ status: 200, code: '500001', cut: 'fault' });
      const fault = on.log.lines().find((line) => line.level === 'error' && line.requestId === requestId);
      expect(fault).toMatchObject({ msg: 'fault in the middle of an answer', path: '/openapi/v1/orders/list' });
      expect(await open(on)).toBe(0);
    },
  );

  it('before the first piece was sent, it is answered as usual', async () => {
    const on = await world();
    on.failAtLink(1);
    const reply = await on.channel.call('orders/list', { channelUserId: on.user });
    expect([reply.status, reply.code]).toEqual([500, '500001']);
  });
});

describe('an order that changes while the list before it is read', () => {
  it('is shown as of one moment: its totals and its periods agree', async () => {
    const on = await world();
    const { database } = on.service.fresh;
    // The oldest order of the list gets so many started periods that they are not read together with other orders.
    const oldest = `(select min(order_no) from orders)`;
    await database.query(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
       select o.order_no, n, o.channel_id, 'SUCCESS', o.created_at, o.created_at, 100
       from orders o, generate_series(2, 600) n where o.order_no = ${oldest}`,
    );
    await database.query(`update orders set cycle_no = 600 where order_no = ${oldest}`);
    const caller = await list(on, 'moment-1');
    await caller.readSome();
    await database.query(`update payments set status = 'REFUND_FULL', refund_amount_cent = 100 where cycle_no = 500`);
    await database.query(`update orders set refund_amount_cent = 100 where order_no = ${oldest}`);
    const text = await caller.readAll();
    const last = text.slice(text.lastIndexOf('"totalRefundAmountCent":'));
    expect(/"totalRefundAmountCent":(\d+)/.exec(last)?.[1]).toBe('100');
    expect(last.match(/REFUND_FULL/g)).toHaveLength(1);
    caller.hangUp();
  });
});

describe('the places for long answers', () => {
  const FEW = { longAnswers: 2, longAnswersPerChannel: 1, longAnswerWait: 200 };

  async function channelWithOrder(on: World) {
    const client = await anotherChannel(on.service);
    await authorizeProduct(on.service.operator, { appId: client.credentials.appId, productCode: 'DAYS_9999' });
    return longOrders(on, client);
  }

  /** Starts a long answer that its caller does not read. */
  async function holdPlace(on: World, client: ChannelClient, user: string, expected: number): Promise<SlowCaller> {
    const caller = await slowCall(on.service.baseUrl, client, 'orders/list', { channelUserId: user });
    await until('a long answer under way', async () => (await open(on)) === expected);
    return caller;
  }

  const refusal = ({ status, code, headers }: Reply) => ({ status, code, retryAfter: headers['retry-after'] });

  it('429001 for a channel that has used all its places; others, and its short answers, are not affected', async () => {
    const on = await world(FEW);
    const { channel } = on;
    const key = unique('key');
    const shared = sharedRequest(channel, { productCode: 'DAYS_9999' });
    const { orderNo } = (await channel.call('orders/create', shared, { idempotencyKey: key })).data;
    const other = await channelWithOrder(on);
    const held = await holdPlace(on, channel, on.user, 1);

    const limited = { status: 429, code: '429001', retryAfter: '1' };
    const external = unique('order');
    const newSharedAgreement = sharedAgreement(channel, shared.channelUserId);
    for (const [name, body] of [
      ['orders/query', { orderNo }],
      ['orders/list', { channelUserId: on.user }],
      ['orders/create', collectRequest(channel, { productCode: 'DAYS_9999', externalOrderNo: external })],
      ['orders/create', sharedRequest(channel, { productCode: 'DAYS_9999', externalOrderNo: external })],
      ['orders/unsubscribe', { orderNo }],
      ['agreements/replace', { orderNo, newSharedAgreement }],
      ['sandbox/orders/advance', { orderNo, cycles: 1 }],
    ] as const) {
      const reply = await channel.call(name, body, { idempotencyKey: unique('key') });
      expect([name, refusal(reply)]).toEqual([name, limited]);
    }
    const replayed = await channel.call('orders/create', shared, { idempotencyKey: key });
    expect(refusal(replayed)).toEqual(limited);
    expect(replayed.headers['idempotency-replayed']).toBeUndefined();

    expect((await channel.call('orders/query', { externalOrderNo: external })).code).toBe('420001');
    const [order] = await on.service.fresh.database.query<{ status: string; cycle_no: number }>(
      'select status, cycle_no from orders where order_no = $1',
      [orderNo],
    );
    expect(order).toEqual({ status: 'ACTIVE', cycle_no: 1 });
    expect((await channel.call('orders/create', collectRequest(channel))).code).toBe('0');
    expect((await other.client.call('orders/query', { orderNo: other.orderNo })).code).toBe('0');

    held.hangUp();
    await until('the place is free', async () => (await open(on)) === 0);
    const again = await channel.call('orders/create', shared, { idempotencyKey: key });
    expect([again.code, again.headers['idempotency-replayed']]).toEqual(['0', 'true']);
    expect((await channel.call('orders/unsubscribe', { orderNo })).data.orderStatus).toBe('UNSUBSCRIBED');
  });

  it('503001 if the node has no place left, for a channel that has none', async () => {
    const on = await world(FEW);
    const [second, third] = [await channelWithOrder(on), await channelWithOrder(on)];
    const held = [await holdPlace(on, on.channel, on.user, 1), await holdPlace(on, second.client, second.user, 2)];
    const reply = await third.client.call('orders/query', { orderNo: third.orderNo });
    expect(refusal(reply)).toEqual({ status: 503, code: '503001', retryAfter: '1' });
    // The node is busy, but has no error.
    expect(on.log.lines().filter((line) => line.level === 'error' || line.level === 'fatal')).toEqual([]);
    for (const caller of held) caller.hangUp();
    await until('the places are free', async () => (await open(on)) === 0);
    expect((await third.client.call('orders/query', { orderNo: third.orderNo })).code).toBe('0');
  });

  it('0: a request that waits for a place is carried out once when one is free', async () => {
    const on = await world({ ...FEW, longAnswerWait: 60_000, longAnswersWaitingPerChannel: 2 });
    const { channel } = on;
    const held = await holdPlace(on, channel, on.user, 1);
    const request = collectRequest(channel, { productCode: 'DAYS_9999' });
    const created = channel.call('orders/create', request, { idempotencyKey: unique('key') });
    const listed = channel.call('orders/list', { channelUserId: on.user, size: 1 });
    await until('both wait', async () => (await waiting(on)) === 2);
    // The queue of waiting requests is full, so a further request is refused immediately.
    expect((await channel.call('orders/list', { channelUserId: on.user, size: 1 })).code).toBe('429001');
    held.hangUp();
    const order = await created;
    expect(order.data.paymentRecords).toHaveLength(9999);
    expect((await listed).data.orders).toHaveLength(1);
    const query = await channel.call('orders/query', { externalOrderNo: request.externalOrderNo });
    expect(query.data.orderNo).toBe(order.data.orderNo);
    expect([await open(on), await waiting(on)]).toEqual([0, 0]);
  });
});

describe('a node that stops', () => {
  it('finishes a long answer that is read, then closes its connection', async () => {
    const on = await newWorld({ drainTime: 60_000 });
    const caller = await list(on, 'stop-1');
    await caller.readSome();
    const ended = new Promise((resolve) => caller.socket.once('close', resolve));
    const stopped = on.close();
    expect((await caller.readAll()).match(/"paymentRecords":/g)).toHaveLength(ORDERS);
    await stopped;
    await ended;
  });

  it('aborts a long answer that is not read, after a while', async () => {
    const on = await newWorld({ drainTime: 100 });
    const caller = await list(on, 'stop-2');
    await caller.readSome();
    await on.close();
    expect(await lineOf(on, 'stop-2')).toMatchObject({ cut: 'stopping' });
    caller.hangUp();
  });
});
