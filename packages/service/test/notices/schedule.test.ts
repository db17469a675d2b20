import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveEndedAlerts } from '../../src/alerts/resolve-sql.js';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { alignNoticeDays, noticeDueOrders } from '../../src/engine/jobs/notices.js';
import { setUpcomingNotices } from '../../src/operator/provisioning/channel-settings.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { declaredStatements } from '../../src/platform/db/statement.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { copyOrder } from '../orders/support.js';
import { clockedEngineOfFile, created, declined } from '../renewals/support.js';
import { collectRequest, sharedAgreement, sharedRequest } from '../support/demo.js';
import { noticesOf, toldOf } from './support.js';

/** Tests when notices of upcoming payments are written, by a clock that the test controls. */

const { on } = stageOfFile();
const node = clockedEngineOfFile(on, Date.UTC(2026, 0, 31, 4, 0, 0));
let database: Database;
beforeAll(() => {
  ({ database } = node.deps);
});
beforeEach(async () => {
  await at('2026-01-31 12:00:00');
  await database.query('truncate orders, payments, benefits, events, alerts, notice_alignments');
  await database.query('truncate external_orders');
  await database.query('update channels set upcoming_notice_days = null, version = version + 1');
});

const at = async (text: string) => {
  const moment = Date.parse(`${text.replace(' ', 'T')}+08:00`);
  on.service.clock.set(moment);
  await node.clock.set(moment);
};
const want = async (days: number | null) =>
  setUpcomingNotices({ ...on.service.operator, database }, { appId: on.channel.credentials.appId, days });
/** Sets the channel's notice days and copies them to all orders immediately, as the job does later. */
const wantOfAll = async (days: number | null) => {
  await want(days);
  await alignNoticeDays(database);
};
const collected = async (more: Record<string, unknown> = {}): Promise<string> => {
  const reply = await on.channel.call('orders/create', collectRequest(on.channel, more), {
    token: await on.channel.getToken(),
  });
  expect(reply.data?.orderStatus, reply.text).toBe('ACTIVE');
  return reply.data.orderNo;
};
const noticed = (orderNo: string) => noticesOf(database, orderNo);
/** Runs the job at the time `text`. Returns the number of notices. */
const told = async (text: string) => {
  await at(text);
  return noticeDueOrders(database);
};

describe('before each renewal', () => {
  it('in mode A and in mode B, the set number of 24 hours before, once, with the planned payment', async () => {
    await want(5);
    const [deducted, billed] = [await created(on), await collected()];
    expect(await told('2026-02-23 11:59:59')).toBe(0);
    expect(await told('2026-02-23 12:00:00')).toBe(2);
    expect(await told('2026-02-23 12:00:01')).toBe(0);
    const stored = await database.query<{ data: object }>(
      `select data::json as data from events where event_type = 'payment.upcoming' order by order_no`,
    );
    expect(stored.map(({ data }) => data)).toEqual(
      [deducted, billed].map((orderNo) => ({
        orderNo,
        externalOrderNo: expect.any(String),
        channelUserId: expect.any(String),
        paymentOrderNo: `${orderNo}0002`,
        cycleNo: 2,
        expectPayTime: '2026-02-28 12:00:00',
        amountCent: 1990,
        settlementMode: orderNo === deducted ? 'SVC_DEDUCT' : 'CHANNEL_COLLECT',
        agreementShareFlag: orderNo === deducted,
      })),
    );

    await at('2026-02-28 12:00:00');
    expect(await node.renewOnce()).toBe(1);
    expect(await billDueOrders(database)).toBe(1);
    expect(await told('2026-02-28 12:00:05')).toBe(0);
    expect(await told('2026-03-26 12:00:00')).toBe(2);
    expect(await toldOf(database, billed)).toEqual([
      '2026-01-31 12:00:00 period 1 BILLED',
      '2026-01-31 12:00:00 order ACTIVE',
      '2026-02-23 12:00:00 period 2 upcoming',
      '2026-02-28 12:00:00 period 2 BILLED',
      '2026-03-26 12:00:00 period 3 upcoming',
    ]);
  });

  it('at the start of the previous period if periods are shorter than the notice; none after the last period', async () => {
    await want(5);
    const orderNo = await collected({ productCode: 'TEST_SPU_DAILY_7' });
    expect(await told('2026-01-31 12:00:01')).toBe(1);
    for (let day = 1; day <= 6; day += 1) {
      await at(`2026-02-0${day} 12:00:00`);
      expect(await billDueOrders(database)).toBe(1);
      expect(await told(`2026-02-0${day} 12:00:01`)).toBe(day === 6 ? 0 : 1);
    }
    expect((await noticed(orderNo)).map((line) => line.slice(20))).toEqual(
      [2, 3, 4, 5, 6, 7].map((n) => `period ${n}`),
    );
    expect(await toldOf(database, orderNo)).toContain('2026-02-06 12:00:00 order COMPLETED');
  });

  it('a retry delays the notice of the next period, and has no notice itself', async () => {
    await want(30);
    const orderNo = await created(on);
    expect(await told('2026-01-31 12:00:01')).toBe(1);
    on.institution.onDebit = async () => declined('retryable');
    await at('2026-02-28 12:00:00');
    expect(await node.renewOnce()).toBe(1);
    expect(await told('2026-02-28 12:00:01')).toBe(0);
    on.institution.reset();
    await at('2026-03-01 12:00:00');
    expect(await noticeDueOrders(database)).toBe(0);
    expect(await node.renewOnce()).toBe(1);
    expect(await told('2026-03-01 12:00:01')).toBe(1);
    expect(await noticed(orderNo)).toEqual(['2026-01-31 12:00:01 period 2', '2026-03-01 12:00:01 period 3']);
  });

  it('none for an order that has ended before; a replaced agreement causes no second notice', async () => {
    await want(5);
    const request = sharedRequest(on.channel);
    const [ended, replaced] = [await created(on), await created(on, request)];
    const newSharedAgreement = sharedAgreement(on.channel, request.channelUserId);
    await at('2026-02-20 12:00:00');
    const call = async (endpoint: 'orders/unsubscribe' | 'agreements/replace', body: object) =>
      on.channel.call(endpoint, body, { token: await on.channel.getToken() });
    expect((await call('orders/unsubscribe', { orderNo: ended })).code).toBe('0');
    expect(await told('2026-02-23 12:00:00')).toBe(1);
    const reply = await call('agreements/replace', { orderNo: replaced, newSharedAgreement });
    expect(reply.code, reply.text).toBe('0');
    expect(await told('2026-02-24 12:00:00')).toBe(0);
    await at('2026-02-28 12:00:00');
    expect(await node.renewOnce()).toBe(1);
    expect(await noticed(ended)).toEqual([]);
    expect(await noticed(replaced)).toEqual(['2026-02-23 12:00:00 period 2']);
  });
});

describe('changing the days', () => {
  it('affects existing orders: due periods are announced at once, and announced ones are not repeated', async () => {
    const orderNo = await created(on);
    await at('2026-02-25 12:00:00');
    await wantOfAll(5);
    expect(await noticeDueOrders(database)).toBe(1);
    await wantOfAll(3);
    expect(await noticeDueOrders(database)).toBe(0);
    await at('2026-02-28 12:00:00');
    await node.renewOnce();
    expect(await told('2026-03-28 11:59:59')).toBe(0);
    expect(await told('2026-03-28 12:00:00')).toBe(1);
    await at('2026-03-31 12:00:00');
    await node.renewOnce();
    await wantOfAll(null);
    expect(await told('2026-04-29 12:00:00')).toBe(0);
    expect(await noticed(orderNo)).toEqual(['2026-02-25 12:00:00 period 2', '2026-03-28 12:00:00 period 3']);
  });

  it('affects an order whose first debit has no result yet', async () => {
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
    expect(data.orderStatus).toBe('INITIALIZING');
    await wantOfAll(5);
    expect(await database.query('select notice_days from orders')).toEqual([{ notice_days: 5 }]);
  });

  it('goes through the orders again a minute later: an order stored with the former days gets the new ones', async () => {
    const orderNo = await created(on);
    await database.query(
      `insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
      select 'copy-' || n, e.channel_id, e.order_no * 10000 + n, e.user_key, e.created_at, e.single, e.product_code
      from external_orders e, generate_series(1, 2500) n where e.order_no = $1`,
      [orderNo],
    );
    await database.query(
      `insert into orders select (jsonb_populate_record(o, jsonb_build_object('order_no', e.order_no,
         'external_order_no', e.external_order_no))).*
       from orders o, external_orders e where o.order_no = $1 and e.order_no <> $1`,
      [orderNo],
    );
    const days = () =>
      database.query('select notice_days as days, count(*) from orders group by 1 order by 1 nulls last');
    await want(5);
    // Stops after the first step, as if the node had died. Then two runs continue from there concurrently.
    let steps = 0;
    await alignNoticeDays(database, () => ++steps > 1);
    expect(await days()).toEqual([
      { days: 5, count: 1000 },
      { days: null, count: 1501 },
    ]);
    await Promise.all([alignNoticeDays(database), alignNoticeDays(database)]);
    expect(await days()).toEqual([{ days: 5, count: 2501 }]);

    // Simulates a request in flight that stored the old value at the same time.
    await database.query('update orders set notice_days = null where order_no = $1', [orderNo]);
    await at('2026-01-31 12:00:59');
    await alignNoticeDays(database);
    expect(await days()).toEqual([
      { days: 5, count: 2500 },
      { days: null, count: 1 },
    ]);
    await at('2026-01-31 12:01:01');
    await alignNoticeDays(database);
    expect(await days()).toEqual([{ days: 5, count: 2501 }]);
    expect(await database.query('select * from notice_alignments')).toEqual([]);
  });

  it('does not wait for locked orders, and misses none', async () => {
    const orderNo = await created(on);
    await want(5);
    await database.transaction(async (tx) => {
      await tx.query('select from orders where order_no = $1 for update', [orderNo]);
      await alignNoticeDays(database);
    });
    expect(await database.query('select notice_days from orders')).toEqual([{ notice_days: null }]);
    await at('2026-01-31 12:00:02');
    await alignNoticeDays(database);
    expect(await database.query('select notice_days from orders')).toEqual([{ notice_days: 5 }]);
  });
});

describe('many', () => {
  it('several nodes announce each period once; a locked order is announced in the next run', async () => {
    await want(5);
    const orderNo = await collected();
    await copyOrder(database, orderNo, 2999);
    const orders = 3000;
    await at('2026-02-24 12:00:00');
    const others = openDatabase({ url: node.clock.url, pool: 4, name: 'another node' });
    try {
      await others.transaction(async (tx) => {
        await tx.query('select from orders where order_no = $1 for update', [orderNo]);
        const counts = await Promise.all([database, others, database].map((one) => noticeDueOrders(one)));
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(orders - 1);
      });
      expect(await noticeDueOrders(others)).toBe(1);
    } finally {
      await others.close();
    }
    expect(
      await database.query(
        `select count(*) as events, count(distinct order_no) as orders from events where event_type = 'payment.upcoming'`,
      ),
    ).toEqual([{ events: orders, orders }]);
  });

  it('an order that the database refuses delays no other, and has an open alert until it is written', async () => {
    await want(5);
    const orderNo = await collected();
    await copyOrder(database, orderNo, 30);
    const [copy] = await database.query<{ no: string }>('select max(order_no)::text as no from orders');
    await database.query(`alter table events add constraint not_this check (order_no <> ${copy?.no}) not valid`);
    await at('2026-02-24 12:00:00');
    expect(await noticeDueOrders(database)).toBe(30);
    expect(await database.query('select kind, subject from alerts')).toEqual([
      { kind: 'upcoming-notice-failed', subject: copy?.no },
    ]);
    await database.query(`update alerts set last_seen_at = now()`);
    expect(await resolveEndedAlerts(database)).toBe(0);
    await database.query('alter table events drop constraint not_this');
    expect(await noticeDueOrders(database)).toBe(1);
    expect(await resolveEndedAlerts(database)).toBe(1);
  });

  it('the job finds due notices by their own index, whatever else there is', async () => {
    await want(5);
    const orderNo = await collected();
    await copyOrder(database, orderNo, 3000);
    await database.query('update orders set notice_days = null where order_no % 100 <> 0');
    await database.query('vacuum analyze orders');
    const job = declaredStatements().find(({ name }) => name === 'notice-orders');
    const text = (job?.text ?? '').replace('$1', `'-infinity'`).replace('$2', '0').replace('$3', '1000');
    const plan = await on.service.fresh.database.query<{ 'QUERY PLAN': string }>(`explain ${text}`);
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain(
      'Index Scan using orders_to_notice on orders o',
    );
  });
});
