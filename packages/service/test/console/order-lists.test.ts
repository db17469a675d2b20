import { formatTime } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, floorToDay } from '../../src/figures/figures.js';
import { orderListQuery } from '../../src/operator/orders/order-list-sql.js';
import { unsubscribeOrder } from '../../src/operator/orders/orders.js';
import { authorizeProduct } from '../../src/operator/provisioning/products.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, copyOrder, dailyProduct } from '../orders/support.js';
import { declined } from '../renewals/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, mobileOf, sharedRequest } from '../support/demo.js';
import { type Answer, readStage } from './reads.js';
import { consoleClient, slowConsole } from './support.js';

interface Page {
  readonly orders: (Answer & { orderNo: string })[];
  readonly nextCursor: string | null;
}

const on = ofFile(readStage);
let other: ChannelClient;
/** The order numbers, by the name of the case that the order represents. The orders are created a minute apart. */
const made: Record<string, string> = {};
const createdAt: Record<string, number> = {};
/** The first day of the test data is today, so that only orders that a test makes due are due. */
const BASE = floorToDay(Date.now());
const day = (days: number) => formatTime(BASE + days * DAY_MS).slice(0, 10);

async function make(name: string, channel: ChannelClient, request: object): Promise<string> {
  const reply = await channel.call('orders/create', request);
  if (!reply.data?.orderNo) throw new Error(reply.text);
  made[name] = reply.data.orderNo;
  createdAt[name] = on.service.clock.now();
  on.service.clock.advance(60_000);
  return reply.data.orderNo;
}

beforeAll(async () => {
  on.service.clock.set(BASE);
  other = await anotherChannel(on.service);
  await dailyProduct(on.service, 'RARE', 3);
  await authorizeProduct(on.operator, { appId: other.credentials.appId, productCode: 'RARE' });
  await make('collected', on.channel, collectRequest(on.channel, { channelUserId: 'ann-the-first' }));
  await make('paid', on.channel, sharedRequest(on.channel, { channelUserId: 'bob' }));
  await make('of another channel', other, collectRequest(other, { productCode: 'RARE' }));
  on.institution.onDebit = async () => declined('final');
  await make('terminated', on.channel, sharedRequest(on.channel));
  on.institution.onDebit = async () => ({ kind: 'unknown' });
  await make('initializing', on.channel, sharedRequest(on.channel));
  on.institution.reset();
  await unsubscribeOrder(on.operator, { orderNo: await make('unsubscribed', on.channel, collectRequest(on.channel)) });
  const completed = await make('completed', on.channel, collectRequest(on.channel));
  await on.sql('update orders set cycle_no = total_cycles - 1, next_due_at = now() where order_no = $1', [completed]);
  await on.renew();
  const waiting = await make('waiting for retry', on.channel, sharedRequest(on.channel));
  on.institution.onDebit = async () => declined('retryable');
  await on.sql('update orders set next_due_at = now() where order_no = $1', [waiting]);
  await on.renew();
  on.institution.reset();
  await make(
    'latest',
    on.channel,
    collectRequest(on.channel, { channelUserId: 'ann-the-first', productCode: 'TEST_SPU_DAILY_7' }),
  );
});

const nameOf = (orderNo: unknown) => Object.entries(made).find(([, number]) => number === orderNo)?.[0];
const list = (query: Record<string, string> = {}) => on.ask<Page>('/orders', query);
const names = async (query: Record<string, string> = {}) =>
  (await list(query)).orders.map((one) => nameOf(one.orderNo));

const NEWEST_FIRST = [
  'latest',
  'waiting for retry',
  'completed',
  'unsubscribed',
  'initializing',
  'terminated',
  'of another channel',
  'paid',
  'collected',
];

describe('GET /console/api/orders', () => {
  it('lists all orders, the newest first', async () => {
    expect(await names()).toEqual(NEWEST_FIRST);
    expect((await list()).nextCursor).toBeNull();
  });

  it('has the fields of a line for each order', async () => {
    const [line] = (await list({ channelUserId: 'bob' })).orders;
    expect(line).toEqual({
      orderNo: made['paid'],
      externalOrderNo: expect.any(String),
      appId: 'test_demo',
      channelUserId: 'bob',
      productCode: 'TEST_SPU_001',
      settlementMode: 'SVC_DEDUCT',
      orderStatus: 'ACTIVE',
      amountCent: 1990,
      cycleNo: 1,
      totalCycles: 12,
      totalPaidAmountCent: 1990,
      totalRefundAmountCent: 0,
      latestPaymentStatus: 'SUCCESS',
      createTime: formatTime(createdAt['paid'] ?? 0),
      nextPayTime: expect.any(String),
    });
  });

  it.each([
    ['ACTIVE', ['latest', 'waiting for retry', 'of another channel', 'paid', 'collected']],
    ['INITIALIZING', ['initializing']],
    ['UNSUBSCRIBED', ['unsubscribed']],
    ['COMPLETED', ['completed']],
    ['TERMINATED', ['terminated']],
    ['TERMINATED,COMPLETED', ['completed', 'terminated']],
    ['TERMINATED,INITIALIZING', ['initializing', 'terminated']],
  ])('by status %s', async (status, expected) => {
    expect(await names({ status })).toEqual(expected);
  });

  it('by when they are due: the soonest first', async () => {
    const due = async (where: string) => {
      const rows = await on.sql<{ no: string }>(
        `select order_no::text as no from orders where ${where} order by next_due_at, order_no`,
      );
      return rows.map(({ no }) => nameOf(no));
    };
    const from = `next_due_at >= '${day(1)} 00:00+08'`;
    expect(await names({ dueFrom: day(1) })).toEqual(await due(from));
    expect(await due(from)).toHaveLength(5);
    const soon = await due(`${from} and next_due_at < '${day(3)} 00:00+08'`);
    expect(await names({ dueFrom: day(1), dueTo: day(3) })).toEqual(soon);
    expect(soon).toEqual(expect.arrayContaining(['latest', 'of another channel']));
    expect(soon.length).toBeLessThan(5);
    expect(await names({ dueTo: day(1) })).toEqual([]);
    const deducted = await due(`${from} and settlement_mode = 'SVC_DEDUCT'`);
    expect(await names({ dueFrom: day(1), settlementMode: 'SVC_DEDUCT' })).toEqual(deducted);
    expect(await names({ dueFrom: day(1), appId: other.credentials.appId })).toEqual(['of another channel']);
  });

  it.each([
    ['everything', {}],
    ['a status', { status: 'ACTIVE' }],
    ['several statuses', { status: 'TERMINATED,COMPLETED,UNSUBSCRIBED' }],
    ['a channel', { appId: 'test_demo' }],
    ['failed ones', { failed: 'true' }],
    ['a user', { channelUserId: 'ann-the-first' }],
    ['due ones', { dueFrom: day(1) }],
    ['a product', { productCode: 'TEST_SPU_001', settlementMode: 'SVC_DEDUCT' }],
    ['a product of a channel', { productCode: 'TEST_SPU_001', appId: 'test_demo' }],
    ['a user of a channel', { channelUserId: 'ann-the-first', appId: 'test_demo' }],
    ['due ones of a channel', { dueFrom: day(1), appId: 'test_demo' }],
  ])('pages by a cursor through %s: each order once, in the same order', async (_what, query) => {
    const all = (await list(query)).orders.map(({ orderNo }) => orderNo);
    for (const limit of ['1', '2']) {
      const paged: string[] = [];
      let cursor: string | null | undefined;
      do {
        const page: Page = await list({ ...query, limit, ...(cursor ? { cursor } : {}) });
        expect(page.orders.length).toBeLessThanOrEqual(Number(limit));
        paged.push(...page.orders.map(({ orderNo }) => orderNo));
        cursor = page.nextCursor;
      } while (cursor);
      expect(paged).toEqual(all);
    }
  });

  it('by any combination of up to three: the orders that match all of them', async () => {
    const all = await on.sql<Answer>(
      `select o.order_no::text as "orderNo", o.status, c.app_id as "appId", o.product_code as "productCode",
         o.settlement_mode as mode, o.created_at as "createdAt", o.next_due_at as "dueAt", o.latest_payment_status as latest,
         o.channel_user_id as "user"
       from orders o join channels c using (channel_id) order by o.created_at desc, o.order_no desc`,
    );
    const middle = createdAt['initializing'] ?? 0;
    const filters: [Record<string, string>, (order: Answer) => boolean][] = [
      [{ status: 'ACTIVE,TERMINATED' }, ({ status }) => status === 'ACTIVE' || status === 'TERMINATED'],
      [{ appId: 'test_demo' }, ({ appId }) => appId === 'test_demo'],
      [{ productCode: 'TEST_SPU_001' }, ({ productCode }) => productCode === 'TEST_SPU_001'],
      [{ settlementMode: 'CHANNEL_COLLECT' }, ({ mode }) => mode === 'CHANNEL_COLLECT'],
      [{ createdFrom: formatTime(middle) }, (order) => Number(order['createdAt']) >= middle],
      [{ createdTo: formatTime(middle) }, (order) => Number(order['createdAt']) < middle],
      [{ dueTo: day(3) }, ({ dueAt }) => dueAt !== null && Number(dueAt) < BASE + 3 * DAY_MS],
      [{ failed: 'true' }, ({ latest }) => latest === 'FAIL' || latest === 'FAIL_RETRY'],
      [{ channelUserId: 'ann-the-first' }, ({ user }) => user === 'ann-the-first'],
    ];
    for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
      const some = filters.filter((_, place) => chosen & (2 ** place));
      // Combines at most three filters. That covers all pairs of indexes, and more filters would test nothing new.
      if (some.length > 3) continue;
      const query = Object.assign({}, ...some.map(([filter]) => filter));
      const expected = all.filter((order) => some.every(([, isTrue]) => isTrue(order))).map(({ orderNo }) => orderNo);
      const found = (await list(query)).orders.map(({ orderNo }) => orderNo);
      // A list filtered by due time is also sorted by due time, so the test ignores the sequence and compares only
      // which orders are in the list.
      const [one, other] = 'dueTo' in query ? [found.toSorted(), expected.toSorted()] : [found, expected];
      expect(one, JSON.stringify(query)).toEqual(other);
    }
  });

  it('refuses invalid filters, limits and cursors', async () => {
    await expect(list({ status: 'ACTIVE,GONE' })).rejects.toThrow('400: a status must be');
    await expect(list({ appId: 'nobody' })).rejects.toThrow('404: there is no channel "nobody"');
    await expect(list({ productCode: 'NONE' })).rejects.toThrow('there is no product "NONE"');
    await expect(list({ limit: '0' })).rejects.toThrow('the number of rows must be');
    await expect(list({ limit: '201' })).rejects.toThrow('the number of rows must be');
    await expect(list({ createdFrom: '2026-13-01' })).rejects.toThrow('400: "2026-13-01" is not a time');
    const { nextCursor } = await list({ limit: '1' });
    await expect(list({ limit: '1', status: 'ACTIVE', cursor: nextCursor ?? '' })).rejects.toThrow('another list');
    await expect(list({ cursor: 'garbage' })).rejects.toThrow('another list');
  });

  it('masks user ids for viewers', async () => {
    const { orders } = await on.ask<Page>('/orders', {}, 'viewer');
    const shown = new Set(orders.map(({ channelUserId }) => channelUserId));
    expect([shown.has('an****st'), shown.has('****'), shown.has('bob')]).toEqual([true, true, false]);
  });
});

describe('GET /console/api/orders/totals', () => {
  const totals = (query: Record<string, string> = {}) => on.ask('/orders/totals', query);

  it('counts and sums the matching orders', async () => {
    await on.refund({ orderNo: made['paid'] ?? '', cycleNo: 1, amountCent: 90 });
    const all = await totals();
    expect(all).toMatchObject({ count: 9, isAtLeast: false, totalRefundAmountCent: 90 });
    expect(await totals({ channelUserId: 'bob' })).toEqual({
      ...{ count: 1, isAtLeast: false, totalPaidAmountCent: 1990, totalRefundAmountCent: 90 },
    });
    expect(await totals({ appId: other.credentials.appId, failed: 'true' })).toEqual({
      ...{ count: 0, isAtLeast: false, totalPaidAmountCent: 0, totalRefundAmountCent: 0 },
    });
  });
});

describe('GET /console/api/orders.csv', () => {
  it('has a header and a line for each matching order', async () => {
    const text = await on.ask<string>('/orders.csv', { appId: 'test_demo' });
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toBe(
      'orderNo,externalOrderNo,appId,channelUserId,productCode,settlementMode,orderStatus,amount,cycleNo,totalCycles,' +
        'totalPaidAmount,totalRefundAmount,latestPaymentStatus,createTime,nextPayTime,currency',
    );
    expect(lines[0]).toMatch(/,\d+\.\d\d,\d+,\d+,\d+\.\d\d,\d+\.\d\d,/);
    // Excel keeps all digits of a long number that a tab follows.
    expect(lines.map((line) => nameOf(/^"(\d+)\t",/.exec(line)?.[1]))).toEqual(
      NEWEST_FIRST.filter((name) => name !== 'of another channel'),
    );
  });

  it('begins with a byte order mark for Excel, as the file of a month does', async () => {
    const { token } = await consoleClient(on.service, 'viewer');
    for (const path of ['/orders.csv', '/settlement/2026-01/csv']) {
      const reply = await fetch(`${on.service.baseUrl}/console/api${path}`, {
        headers: { cookie: `__Host-perennial=${token}; perennial=${token}` },
      });
      const bytes = Buffer.from(await reply.arrayBuffer());
      expect([reply.status, bytes.subarray(0, 3).toString('hex')]).toEqual([200, 'efbbbf']);
      expect(bytes.indexOf('\uFEFF', 3)).toBe(-1);
    }
  });

  it('escapes formulas in texts of channels, and masks for viewers', async () => {
    await make(
      'formula',
      on.channel,
      collectRequest(on.channel, { externalOrderNo: '=1+1,"x"', channelUserId: '@us;er' }),
    );
    const line = async (role: 'viewer' | 'support') =>
      (await on.ask<string>('/orders.csv', { createdFrom: formatTime(createdAt['formula'] ?? 0) }, role)).split(
        '\r\n',
      )[1];
    expect(await line('support')).toContain(`,"'=1+1,""x""",test_demo,"'@us;er",`);
    expect(await line('viewer')).toContain(`,test_demo,'@u****er,`);
  });

  it('refuses a wrong filter before anything is sent', async () => {
    await expect(on.ask<string>('/orders.csv', { status: 'GONE' })).rejects.toThrow('400: a status must be');
  });
});

describe('GET /console/api/users', () => {
  const user = (channelUserId: string) => on.ask('/users', { appId: 'test_demo', channelUserId });

  it("has a user's orders, agreements, refunds and claims", async () => {
    await on.sql(
      `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
       select order_no, 1, 2, channel_id, 'COUPON', 'POOL', 'PENDING', now() from orders where order_no = $1`,
      [made['paid']],
    );
    const bob = await user('bob');
    const mobile = mobileOf('bob');
    expect(bob).toMatchObject({
      appId: 'test_demo',
      channelUserId: 'bob',
      mobile: `${mobile.slice(0, 3)}****${mobile.slice(-4)}`,
      orders: [{ orderNo: made['paid'] }],
      agreements: [{ agreementStatus: 'BIND_SUCCESS', paymentChannelCode: 'MOCKPAY', bankCardTailNo: '4567' }],
      refunds: [{ refundNo: `R${made['paid']}000101`, orderNo: made['paid'], amountCent: 90, status: 'SUCCESS' }],
      claims: [{ claimNo: `C${made['paid']}000102`, orderNo: made['paid'], name: 'Coupon', status: 'PENDING' }],
    });
    expect(bob['claims']).toHaveLength(1);
    expect(JSON.stringify(bob)).not.toContain(mobile);
  });

  it('is 404 for an unknown user', async () => {
    await expect(user('nobody')).rejects.toThrow('404: channel test_demo has no such user');
    await expect(on.ask('/users', { appId: 'nobody', channelUserId: 'bob' })).rejects.toThrow('there is no channel');
  });
});

describe('with many orders', () => {
  const COPIED = { settlementMode: 'CHANNEL_COLLECT', productCode: 'TEST_SPU_001', createdTo: formatTime(BASE + 1000) };

  it('totals are exact up to ten thousand orders, and say so beyond', async () => {
    await copyOrder(on.service.fresh.database, made['collected'] ?? '', 9_999);
    const sums = { count: 10_000, totalPaidAmountCent: 10_000 * 1990, totalRefundAmountCent: 0 };
    expect(await on.ask('/orders/totals', COPIED)).toEqual({ ...sums, isAtLeast: false });
    await copyOrder(on.service.fresh.database, made['collected'] ?? '', 1);
    expect(await on.ask('/orders/totals', COPIED)).toEqual({ ...sums, isAtLeast: true });
    await copyOrder(on.service.fresh.database, made['collected'] ?? '', 2_000);
    expect(await on.ask('/orders/totals', COPIED)).toEqual({ ...sums, isAtLeast: true });
    expect(await on.ask('/orders/totals', { productCode: 'RARE' })).toMatchObject({ count: 1, isAtLeast: false });
    await on.sql('vacuum analyze orders');
    await on.sql('vacuum analyze external_orders');
  });

  it.each([
    ['everything', {}, ['external_orders_created']],
    ['ended', { statuses: ['COMPLETED'] as const }, ['orders_ended']],
    ['not begun', { statuses: ['INITIALIZING'] as const }, ['debit_attempts_started']],
    ['failed', { failed: true }, ['orders_failed']],
    ['due', { dueFrom: 0 }, ['orders_to_bill', 'orders_to_debit']],
    ['due, of a channel with few orders', { dueFrom: 0, channelId: 100_001 }, ['external_orders_of_channel']],
    ['of a product', { productCode: 'RARE' }, ['external_orders_of_product']],
    ['of a channel', { channelId: 100_001 }, ['external_orders_of_channel']],
    ['of a product in a channel', { channelId: 100_001, productCode: 'RARE' }, ['external_orders_of_channel']],
    ['of a user', { channelUserId: 'bob' }, ['external_orders_of_user']],
    ['of a user in a channel', { channelUserId: 'bob', channelId: 100_001 }, ['external_orders_of_user']],
  ])('those %s are found by their index, and no table is read whole', async (_what, filter, indexes) => {
    const { values, ...query } = await orderListQuery(on.service.fresh.database, filter, undefined, 51);
    const plan = JSON.stringify(await on.sql({ ...query, text: `explain (format json) ${query.text}` }, values));
    for (const index of indexes) expect(plan).toContain(`"${index}"`);
    const whole = [...plan.matchAll(/"Seq Scan".*?"Relation Name":"(\w+)"/g)].map(([, table]) => table);
    expect(whole.filter((table) => !['channels', 'payment_channels', 'products'].includes(table ?? ''))).toEqual([]);
    // The index contains the channel, so the query does not read orders of other channels.
    if ('channelId' in filter) expect(plan).not.toMatch(/"Filter":"[^"]*t\.channel_id/);
  });

  it('finds rare ones among them', async () => {
    expect(await names({ productCode: 'RARE' })).toEqual(['of another channel']);
    expect(await names({ productCode: 'RARE', appId: 'test_demo' })).toEqual([]);
    expect(await names({ appId: other.credentials.appId })).toEqual(['of another channel']);
    expect(await names({ dueFrom: day(0), appId: other.credentials.appId })).toEqual(['of another channel']);
    expect(await names({ status: 'TERMINATED' })).toEqual(['terminated']);
  });

  it('pages and totals are complete however slow the database is, and rare orders are on one page', async () => {
    const slow = await slowConsole(on.service);
    const rare = { settlementMode: 'SVC_DEDUCT', status: 'ACTIVE' };
    const expected = await on.sql<{ no: string }>(
      `select order_no::text as no from orders where settlement_mode = 'SVC_DEDUCT' and status = 'ACTIVE'
       order by created_at desc, order_no desc`,
    );
    expect(expected.length).toBeGreaterThan(1);
    const { body } = await slow.viewer.get(`/orders?${new URLSearchParams(rare)}`);
    expect(body.orders.map(({ orderNo }: Answer) => orderNo)).toEqual(expected.map(({ no }) => no));
    expect(body.nextCursor).toBeNull();
    const totals = await slow.viewer.get(`/orders/totals?${new URLSearchParams(rare)}`);
    expect(totals.body).toMatchObject({ count: expected.length, isAtLeast: false });
    await slow.close();
  });

  it('a cursor continues behind its order, also after newer orders', async () => {
    const first = await list({ limit: '2', appId: 'test_demo' });
    const rest = await list({ limit: '200', appId: 'test_demo', cursor: first.nextCursor ?? '' });
    await make('newer', on.channel, collectRequest(on.channel));
    const again = await list({ limit: '200', appId: 'test_demo', cursor: first.nextCursor ?? '' });
    expect(again.orders).toEqual(rest.orders);
    expect(await names({ limit: '1', appId: 'test_demo' })).toEqual(['newer']);
  });

  it('a search that takes too long is refused, and asks for a shorter time range', async () => {
    await on.service.fresh.database.transaction(async (tx) => {
      await tx.query('lock table external_orders in access exclusive mode');
      await expect(list({ settlementMode: 'SVC_DEDUCT' })).rejects.toThrow(
        '409: the search takes longer than 3 seconds: choose a shorter time range',
      );
    });
  });

  it('an export contains all of them', async () => {
    const text = await on.ask<string>('/orders.csv', { settlementMode: 'CHANNEL_COLLECT', appId: 'test_demo' });
    const numbers = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
    expect(numbers).toHaveLength(12_006);
    expect(new Set(numbers).size).toBe(12_006);
  });
});
