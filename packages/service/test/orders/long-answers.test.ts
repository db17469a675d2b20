import http from 'node:http';
import {
  paymentStatuses as allStatuses,
  formatTime,
  PATH_PREFIX,
  parseTime,
  REDEEM_LIFETIME_SECONDS,
} from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { type ChannelClient, channelClient, type Reply, send } from '../support/channel-client.js';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { stageOfFile } from './stage-of-file.js';
import { anotherChannel, dailyProduct } from './support.js';

/** Tests that orders of 9,999 periods are answered completely, stored compactly, and repeated exactly on a resend. */

const LONG = 9999;
/** The statuses of stored periods. A period in WAIT has no row. */
const paymentStatuses = allStatuses.filter((status) => status !== 'WAIT');
/** Called when the service creates the link of an order, which is when it begins to render the order. */
let atLink: () => void = () => undefined;
const { on, channel, sql } = stageOfFile({
  publicUrl: () => {
    atLink();
    return 'https://pay.example';
  },
});
/** Numbers of periods to test. Orders of more than 250 periods are rendered in several parts. */
const LENGTHS = [1, 2, 500, 501, 502, 1001, LONG];
beforeAll(async () => {
  for (const length of [...LENGTHS, 3, 250]) await dailyProduct(on.service, `DAYS_${length}`, length);
});

async function call(name: string, body: object, idempotencyKey?: string): Promise<Reply> {
  const reply = await channel.call(name, body, idempotencyKey === undefined ? {} : { idempotencyKey });
  expect(reply.code, reply.text.slice(0, 1000)).toBe('0');
  return reply;
}

/** Returns the `data` part of an answer as text, without the envelope. */
function dataText({ text }: Reply): string {
  return text.slice(text.indexOf('"data":') + '"data":'.length, text.lastIndexOf(',"requestId":'));
}

/** Returns the `data` part of a list that has these orders on its only page. */
const listText = (orders: readonly string[]) =>
  `{"orders":[${orders.join(',')}],"page":1,"size":100,"hasMore":false,"nextCursor":null}`;

/** Compares long texts. Used instead of toBe, because a diff of two texts of a megabyte is unreadable. */
function expectSame(text: string, expected: string): void {
  let at = 0;
  while (text[at] !== undefined && text[at] === expected[at]) at += 1;
  expect([at, text.slice(at, at + 200)]).toEqual([expected.length, expected.slice(at, at + 200)]);
}

const DAY = 86_400_000;

/** Returns a daily period as the interface shows it. */
const record = (orderNo: string, created: string, cycleNo: number, more: object = {}) => ({
  paymentOrderNo: `${orderNo}${String(cycleNo).padStart(4, '0')}`,
  cycleNo,
  expectPayTime: formatTime((parseTime(created) ?? 0) + (cycleNo - 1) * DAY),
  paidAt: null as string | null,
  amountCent: 100,
  refundAmountCent: 0,
  paymentStatus: 'WAIT',
  ...more,
});
const upTo = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n + 1));

/** Stores these periods as paid, each at its due time. */
async function startPeriods(orderNo: string, from: number, to: number): Promise<void> {
  await sql(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select o.order_no, n, o.channel_id, 'SUCCESS', at, at, 100
     from orders o, generate_series($2::integer, $3::integer) n,
       lateral (select o.created_at + (n - 1) * interval '1 day' as at)
     where o.order_no = $1`,
    [orderNo, from, to],
  );
  await sql('update orders set cycle_no = $2 where order_no = $1', [orderNo, to]);
}

describe('an answer', () => {
  it.each(LENGTHS)('is identical in orders/create, orders/query and orders/list: %i periods', async (length) => {
    const channelUserId = unique('user');
    const request = collectRequest(channel, { channelUserId, productCode: `DAYS_${length}` });
    const made = dataText(await call('orders/create', request));
    expectSame(dataText(await call('orders/query', { orderNo: JSON.parse(made).orderNo })), made);
    expectSame(dataText(await call('orders/list', { channelUserId })), listText([made]));
  });

  it('has every period in its status: 9,999 started ones, of all statuses and each paid at another time', async () => {
    const user = unique('user');
    const { data } = await call(
      'orders/create',
      sharedRequest(channel, { channelUserId: user, productCode: 'DAYS_9999' }),
    );
    const { orderNo, createTime, redeemUrl: _, ...made } = data;
    // Stores the order as it would be years later: 7 out of 11 periods have a payment time, and neighbouring times
    // differ.
    await sql('delete from payments where order_no = $1', [orderNo]);
    await sql(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, refund_amount_cent)
       select o.order_no, n, o.channel_id, ($2::text[])[n % $3 + 1], o.created_at + (n - 1) * interval '1 day',
         case when n % 11 < 7 then o.created_at + (n - 1) * interval '1 day' + n * interval '1 s' + interval '999999 us' end,
         100, n % 100
       from orders o, generate_series(1, $4::integer) n where o.order_no = $1`,
      [orderNo, paymentStatuses, paymentStatuses.length, LONG],
    );
    await sql(`update orders set cycle_no = $2, status = 'COMPLETED', next_due_at = null where order_no = $1`, [
      orderNo,
      LONG,
    ]);
    const paidAt = (n: number) => formatTime((parseTime(createTime) ?? 0) + (n - 1) * DAY + n * 1000);
    const query = await call('orders/query', { orderNo });
    const expected = {
      orderNo,
      ...{ externalOrderNo: made.externalOrderNo, createTime, orderStatus: 'COMPLETED' },
      ...{ orderSuccessTime: made.orderSuccessTime, periodType: 'DAY', period: 1, totalCycles: LONG },
      ...{ totalPaidAmountCent: 100, totalRefundAmountCent: 0, nextPayTime: null, unsubscribeTime: null },
      redeemUrl: query.data.redeemUrl,
      paymentRecords: upTo(LONG, (n) =>
        record(orderNo, createTime, n, {
          paidAt: n % 11 < 7 ? paidAt(n) : null,
          refundAmountCent: n % 100,
          paymentStatus: paymentStatuses[n % paymentStatuses.length],
        }),
      ),
    };
    expectSame(dataText(query), JSON.stringify(expected));
    const list = await call('orders/list', { channelUserId: user });
    expectSame(dataText(list), listText([JSON.stringify(expected)]));
  });

  it.each([
    ['ACTIVE', 'WAIT'],
    ['UNSUBSCRIBED', 'CANCELED'],
  ])('includes unstarted periods: %s, 300 started and 9,699 %s', async (status, derived) => {
    const { data } = await call('orders/create', collectRequest(channel, { productCode: 'DAYS_9999' }));
    const { orderNo, createTime } = data;
    await startPeriods(orderNo, 2, 300);
    await sql('update orders set status = $2, next_due_at = null where order_no = $1', [orderNo, status]);
    const { paymentRecords } = (await call('orders/query', { orderNo })).data;
    expect(paymentRecords).toEqual(
      upTo(LONG, (n) => {
        const more = n > 300 ? { paymentStatus: derived } : { paymentStatus: n === 1 ? 'BILLED' : 'SUCCESS' };
        const made = record(orderNo, createTime, n, more);
        return n > 300 ? made : { ...made, paidAt: made.expectPayTime };
      }),
    );
  });

  it('is the same text in a list of many short orders', async () => {
    const user = unique('user');
    const made: string[] = [];
    for (const productCode of ['DAYS_3', 'DAYS_250', 'DAYS_250', 'DAYS_3', 'DAYS_250']) {
      const reply = await call('orders/create', collectRequest(channel, { channelUserId: user, productCode }));
      expect(reply.headers['content-length']).toBeDefined();
      made.unshift(dataText(reply));
    }
    const list = await call('orders/list', { channelUserId: user });
    expect(list.headers['transfer-encoding']).toBe('chunked');
    expectSame(dataText(list), listText(made));
    const two = await call('orders/list', { channelUserId: user, size: 2, page: 2 });
    const { nextCursor } = JSON.parse(dataText(two));
    expectSame(
      dataText(two),
      `{"orders":[${made.slice(2, 4).join(',')}],"page":2,"size":2,"hasMore":true,"nextCursor":"${nextCursor}"}`,
    );
    const none = await call('orders/list', { channelUserId: unique('nobody') });
    expect(dataText(none)).toBe(listText([]));
  });

  it('has all started periods, even if they are too many for one statement', async () => {
    const user = unique('user');
    const texts: string[] = [];
    // Together these orders have more started periods than one statement reads. From the fourth order of the list on,
    // each order is therefore read separately.
    for (const started of [200, 250, 250, 3, 120]) {
      const ask = collectRequest(channel, { channelUserId: user, productCode: 'DAYS_250' });
      const { orderNo } = (await call('orders/create', ask)).data;
      await startPeriods(orderNo, 2, started);
      texts.unshift(dataText(await call('orders/query', { orderNo })));
    }
    const list = await call('orders/list', { channelUserId: user });
    expectSame(dataText(list), listText(texts));
  });
});

/** The endpoints that write and whose answers contain periods. Each is called for a long order. */
const WRITES: [string, (key: string) => Promise<{ name: string; body: object; first: Reply }>][] = [
  [
    'orders/create, mode B',
    (key) => asked('orders/create', collectRequest(channel, { productCode: 'DAYS_9999' }), key),
  ],
  ['orders/create, mode A', (key) => asked('orders/create', sharedRequest(channel, { productCode: 'DAYS_9999' }), key)],
  ['orders/unsubscribe', async (key) => asked('orders/unsubscribe', { orderNo: (await longOrder()).orderNo }, key)],
  [
    'agreements/replace',
    async (key) => {
      const { orderNo, user } = await longOrder();
      return asked('agreements/replace', { orderNo, newSharedAgreement: sharedAgreement(channel, user) }, key);
    },
  ],
  [
    'sandbox/orders/advance',
    async (key) => asked('sandbox/orders/advance', { orderNo: (await longOrder()).orderNo, cycles: 30 }, key),
  ],
];

async function asked(name: string, body: object, key: string) {
  return { name, body, first: await call(name, body, key) };
}

async function longOrder(): Promise<{ orderNo: string; user: string }> {
  const user = unique('user');
  const request = sharedRequest(channel, { channelUserId: user, productCode: 'DAYS_9999' });
  return { orderNo: (await call('orders/create', request)).data.orderNo, user };
}

const storedUnder = async (key: string) =>
  (
    await sql<{ state: string; data: string; leased: boolean }>(
      'select state, data, lease_until > now() as leased from idempotency where key = $1',
      [key],
    )
  )[0];

describe('a resend with the Idempotency-Key', () => {
  it.each(WRITES)(
    'gives the same bytes, whatever has happened to the order, and little is stored: %s',
    async (_what, ask) => {
      const key = unique('key');
      const { name, body, first } = await ask(key);
      expect(first.headers['transfer-encoding']).toBe('chunked');
      const records = first.data.paymentRecords ?? first.data.affectedPayments;
      expect(records.length).toBeGreaterThanOrEqual(LONG - 1);
      const row = await storedUnder(key);
      expect(row?.data.length).toBeLessThan(1000);
      expect(row?.data).not.toMatch(/sig=|redeem/);
      const sig = /sig=([\w-]+)/.exec(first.data.redeemUrl ?? '')?.[1];
      if (sig) expect(row?.data).not.toContain(sig);
      const { orderNo } = first.data;
      await sql(
        `update payments set status = 'REFUND_FULL', refund_amount_cent = 7, paid_at = now() where order_no = $1`,
        [orderNo],
      );
      await sql(
        `update orders set status = 'COMPLETED', next_due_at = null, paid_amount_cent = 7, channel_user_id = 'other' where order_no = $1`,
        [orderNo],
      );
      on.service.clock.advance(3_600_000);
      const again = await channel.call(name, body, { idempotencyKey: key, requestId: 'again' });
      on.service.clock.advance(-3_600_000);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expectSame(dataText(again), dataText(first));
      expect(again.envelope.requestId).toBe('again');
      expect(parseTime(again.envelope.timestamp)).toBe((parseTime(first.envelope.timestamp) ?? 0) + 3_600_000);
    },
  );

  it('little is stored even for 9,999 started periods', async () => {
    const key = unique('key');
    const { orderNo } = await longOrder();
    const first = await call('sandbox/orders/advance', { orderNo, cycles: 2 });
    await startPeriods(orderNo, 4, LONG);
    const ended = await call('orders/unsubscribe', { orderNo }, key);
    expect(ended.data.paymentRecords.slice(0, 3)).toEqual(first.data.paymentRecords.slice(0, 3));
    expect(ended.data.paymentRecords).toHaveLength(LONG);
    expect((await storedUnder(key))?.data.length).toBeLessThan(1000);
    expectSame(dataText(await call('orders/unsubscribe', { orderNo }, key)), dataText(ended));
  });

  it('has the link of the first answer, or a link under the new secret after a reset of callbackSecret', async () => {
    const created = await anotherChannel(on.service);
    const { appId } = created.credentials;
    const key = unique('key');
    const request = collectRequest(created);
    const ask = (client: ChannelClient) => client.call('orders/create', request, { idempotencyKey: key });
    const opened = async (url: string) =>
      (await send(on.service.baseUrl, 'GET', url.slice('https://pay.example'.length), {}, Buffer.alloc(0))).status;
    const first = (await ask(created)).data.redeemUrl;
    on.service.clock.advance(3_600_000);
    expect((await ask(created)).data.redeemUrl).toBe(first);
    expect(await opened(first)).toBe(200);

    const reset = await resetCredentials(on.service.operator, { appId, names: ['callbackSecret'] });
    const credentials = { ...created.credentials, ...reset };
    const after = (await ask(channelClient(on.service.baseUrl, credentials, () => on.service.clock.now()))).data
      .redeemUrl;
    on.service.clock.advance(-3_600_000);
    expect(after).not.toBe(first);
    expect(after.replace(/sig=.*/, '')).toBe(first.replace(/sig=.*/, ''));
    const exp = Math.floor(on.service.clock.now() / 1000) + REDEEM_LIFETIME_SECONDS;
    expect(after).toContain(`exp=${exp}`);
    expect([await opened(first), await opened(after)]).toEqual([404, 200]);
  });

  it('repeats an answer that an earlier version stored as text, with its link', async () => {
    const key = unique('key');
    const request = collectRequest(channel, { productCode: 'DAYS_3' });
    const first = await call('orders/create', request, key);
    const before = dataText(first).replace(/sig=[\w-]+/, 'sig=of-back-then');
    await sql(`update idempotency set state = 'DONE', lease_until = null, data = $2 where key = $1`, [key, before]);
    const again = await call('orders/create', request, key);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(dataText(again)).toBe(before);
  });

  it('looks in progress to a node of the previous version, which answers 409002 and never the description', async () => {
    const key = unique('key');
    await call('orders/create', collectRequest(channel, { productCode: 'DAYS_3' }), key);
    // The previous version first checks whether the state is DONE, and then whether the row is leased. It takes over
    // only a row in RUNNING.
    expect(await storedUnder(key)).toMatchObject({ state: 'DESCRIBED', leased: true });
    expect(
      await sql(`update idempotency set owner = null where key = $1 and state = 'RUNNING' returning 1`, [key]),
    ).toEqual([]);
  });
});

describe('over HTTP', () => {
  const signed = async (name: string, body: object, version: string) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = channel.signedHeaders(name, bytes, { token: await channel.getToken() });
    const request = requestBytes(`/openapi/v1/${name}`, { ...headers, 'Content-Length': String(bytes.length) }, bytes);
    return Buffer.from(request.toString('latin1').replace('HTTP/1.1', version), 'latin1');
  };

  it('a long answer is chunked, and its connection serves the next request', async () => {
    const { orderNo } = await longOrder();
    const raw = rawConnection(on.service.baseUrl);
    raw.write(await signed('orders/query', { orderNo }, 'HTTP/1.1'));
    await new Promise<void>((resolve) => {
      raw.socket.on('data', () => raw.text().endsWith('\r\n0\r\n\r\n') && resolve());
    });
    const first = raw.text();
    expect(first).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(first.slice(0, 1000).toLowerCase()).toContain('transfer-encoding: chunked');
    expect(first.slice(0, 1000).toLowerCase()).not.toContain('content-length');
    raw.write(await signed('orders/query', { orderNo: '1' }, 'HTTP/1.1'));
    await new Promise<void>((resolve) => {
      raw.socket.on('data', () => raw.text().includes('420001') && resolve());
    });
    raw.close();
  });

  it('HTTP/1.0 gets it without chunks, ended by closing the connection', async () => {
    const { orderNo } = await longOrder();
    const raw = rawConnection(on.service.baseUrl);
    raw.write(await signed('orders/query', { orderNo }, 'HTTP/1.0'));
    await raw.untilClosed();
    const [head = '', body = ''] = raw.text().split('\r\n\r\n');
    expect(head.toLowerCase()).not.toContain('chunked');
    expect(JSON.parse(body).data.paymentRecords).toHaveLength(LONG);
  });
});

describe('while long answers are being rendered', () => {
  it.each([
    ['orders/query', 1, 9999],
    ['orders/list', 6, 9999],
    ['orders/list', 25, 500],
  ])('another request is answered before the end of %s of %i with %i periods', async (name, count, length) => {
    const user = unique('user');
    const request = () => collectRequest(channel, { channelUserId: user, productCode: `DAYS_${length}` });
    const made = await Promise.all(Array.from({ length: count }, () => call('orders/create', request())));
    const answered: string[] = [];
    const others: Promise<unknown>[] = [];
    // Sends /healthz when the service has read the orders and begins to render the first one.
    atLink = () => {
      atLink = () => undefined;
      others.push(answeredWhole('/healthz').then(() => answered.push('/healthz')));
    };
    const body = name === 'orders/list' ? { channelUserId: user } : { orderNo: made[0]?.data.orderNo };
    await callWhole(name, body).then(() => answered.push(name));
    await Promise.all(others);
    expect(answered).toEqual(['/healthz', name]);
  });
});

/** Resolves when the answer has arrived completely. */
function answeredWhole(path: string, headers: http.OutgoingHttpHeaders = {}, body?: Buffer): Promise<void> {
  const { hostname, port } = new URL(on.service.baseUrl);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method: body ? 'POST' : 'GET', agent: false, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('end', resolve);
      response.resume();
    });
    request.end(body);
  });
}

async function callWhole(name: string, body: object): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body));
  const token = await channel.getToken();
  await answeredWhole(`${PATH_PREFIX}${name}`, channel.signedHeaders(name, bytes, { token }), bytes);
}
