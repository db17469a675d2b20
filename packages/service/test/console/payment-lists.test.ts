import { beforeAll, describe, expect, it } from 'vitest';
import { listedQuery } from '../../src/operator/payments/payment-lists-sql.js';
import { authorizeProduct } from '../../src/operator/provisioning/products.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, dailyProduct } from '../orders/support.js';
import { periodNo } from '../refunds/support.js';
import { declined } from '../renewals/support.js';
import { sharedRequest } from '../support/demo.js';
import { operatorStage } from './operators.js';
import { type ConsoleClient, slowConsole, walk } from './support.js';

const LIMITS = { refundApprovalCent: 0, refundDailyCent: 0 };
const on = ofFile(() => operatorStage(LIMITS));
type Row = Readonly<Record<string, string | number | null>>;
type Query = Readonly<Record<string, string>>;

const search = (query: Query) => `?${new URLSearchParams(query)}`;
const payments = async (query: Query = {}): Promise<Row[]> =>
  (await on.viewer.get(`/payments${search(query)}`)).body.payments;
const refunds = async (query: Query = {}): Promise<Row[]> =>
  (await on.viewer.get(`/refunds${search(query)}`)).body.refunds;
const numbers = async (query: Query = {}) => (await payments(query)).map(({ attemptNo }) => attemptNo);
const refundNumbers = async (query: Query = {}) => (await refunds(query)).map(({ refundNo }) => refundNo);
const attempt = (orderNo: string, cycleNo: number, tryNo: number) => `${periodNo(orderNo, cycleNo)}0${tryNo}`;

let paid: string;
let retried: string;
let terminated: string;
let pending: string;
let daily: string;
let other: string;

/** All debits of the file, latest first. */
let all: string[];

beforeAll(async () => {
  const minute = () => on.service.clock.advance(60_000);
  const { clock } = on.service;
  clock.set(Date.now() - 3_600_000);
  await dailyProduct(on.service, 'DAILY_3', 3);
  paid = await on.paidOrder();
  minute();
  daily = await on.paidOrder({ productCode: 'DAILY_3' });
  minute();
  const elsewhere = await anotherChannel(on.service);
  await authorizeProduct(on.operator, { appId: elsewhere.credentials.appId, productCode: 'TEST_SPU_001' });
  other = (await elsewhere.call('orders/create', sharedRequest(elsewhere))).data.orderNo;
  minute();
  on.institution.onDebit = async () => declined('final');
  terminated = (await on.channel.call('orders/create', sharedRequest(on.channel))).data.orderNo;
  minute();
  on.institution.onDebit = async () => ({ kind: 'unknown' });
  pending = (await on.channel.call('orders/create', sharedRequest(on.channel))).data.orderNo;
  minute();
  on.institution.reset();
  retried = await on.paidOrder();
  await on.renewNow(retried, 'retryable');
  await on.renewNow(retried);
  clock.set(Date.now());
  all = [
    ...[attempt(retried, 2, 2), attempt(retried, 2, 1), attempt(retried, 1, 1), attempt(pending, 1, 1)],
    ...[attempt(terminated, 1, 1), attempt(other, 1, 1), attempt(daily, 1, 1), attempt(paid, 1, 1)],
  ];
  const refund = (orderNo: string, key: string, amountCent: number) =>
    on.ann.post(`/orders/${orderNo}/periods/1/refund`, { note: 'late', key, amountCent });
  await refund(paid, 'k1', 490);
  minute();
  on.bank.onRefund = async () => ({ kind: 'unknown' });
  await refund(retried, 'k2', 300);
  minute();
  on.bank.onRefund = async () => ({ kind: 'refused', reason: 'account closed' });
  await refund(daily, 'k3', 50);
  on.bank.reset();
});

describe('the debits', () => {
  it('are listed one by one, latest first', async () => {
    expect(await numbers()).toEqual(all);
    const [last] = (await payments()).slice(-1);
    expect(last).toEqual({
      attemptNo: attempt(paid, 1, 1),
      orderNo: paid,
      externalOrderNo: expect.any(String),
      cycleNo: 1,
      paymentOrderNo: periodNo(paid),
      appId: 'test_demo',
      productCode: 'TEST_SPU_001',
      paymentChannelCode: 'MOCKPAY',
      status: 'SUCCESS',
      paymentStatus: 'REFUND_PART',
      amountCent: 1990,
      reason: null,
      startedAt: expect.any(String),
      settledAt: expect.any(String),
      askAt: null,
      tryNo: 1,
      paidAt: expect.any(String),
      institutionRef: `ref-${attempt(paid, 1, 1)}`,
    });
  });

  it.each([
    [{ status: 'STARTED' }, () => [attempt(pending, 1, 1)]],
    [{ status: 'FAIL' }, () => [attempt(retried, 2, 1), attempt(terminated, 1, 1)]],
    [{ status: 'FAIL', tryNo: '2' }, () => []],
    [{ tryNo: '2' }, () => [attempt(retried, 2, 2)]],
    [{ productCode: 'DAILY_3' }, () => [attempt(daily, 1, 1)]],
    [
      { appId: 'test_demo', status: 'SUCCESS', tryNo: '1' },
      () => [attempt(retried, 1, 1), attempt(daily, 1, 1), attempt(paid, 1, 1)],
    ],
    [{ paymentChannelCode: 'MOCKPAY' }, () => all],
    [{ paymentChannelCode: 'MOCKBANK' }, () => []],
    [{ amountFrom: '1990', amountTo: '1990' }, () => all.filter((one) => !one.startsWith(daily))],
    [{ amountTo: '1989' }, () => [attempt(daily, 1, 1)]],
    [{ from: '2999-01-01' }, () => []],
    [{ to: '2999-01-01' }, () => all],
    [{ to: '2020-01-01' }, () => []],
    [{ from: '2020-01-01', status: 'STARTED', appId: 'test_demo' }, () => [attempt(pending, 1, 1)]],
  ] as const)('that match %j are found, and counted with their sum', async (query, expected) => {
    const found = await payments(query);
    expect(found.map(({ attemptNo }) => attemptNo)).toEqual(expected());
    expect((await on.viewer.get(`/payments/totals${search(query)}`)).body).toEqual({
      count: found.length,
      amountCent: found.reduce((sum, { amountCent }) => sum + Number(amountCent), 0),
      isAtLeast: false,
    });
  });

  it('are filtered by the time of the debit, to the second', async () => {
    const [row] = await payments({ productCode: 'DAILY_3' });
    const at = String(row?.startedAt);
    expect(await numbers({ from: at })).toContain(row?.attemptNo);
    expect(await numbers({ to: at })).not.toContain(row?.attemptNo);
  });

  it.each([{}, { status: 'STARTED' }, { appId: 'test_demo' }, { tryNo: '1' }] as Query[])(
    'are the same page by page: %j',
    async (query) => {
      const path = `/payments${search({ ...query, limit: '1' })}`;
      expect(await walk(on.viewer, path, 'payments', 'attemptNo')).toEqual(await numbers(query));
    },
  );

  it.each([
    ['status=PAID', 400],
    ['tryNo=0', 400],
    ['amountFrom=x', 400],
    ['from=yesterday', 400],
    ['cursor=x', 400],
    ['appId=nobody', 404],
    ['productCode=NOBODY_S', 404],
  ])('refuse %s', async (query, status) => {
    expect((await on.viewer.get(`/payments?${query}`)).status).toBe(status);
  });

  it('far apart in time are found, also page by page', async () => {
    const [row] = await on.sql<{ order_no: string }>(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at)
       select order_no, 90 + n, 1, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS',
         started_at - n * interval '100 days', started_at
       from debit_attempts, generate_series(1, 5) n where order_no = $1 and cycle_no = 1 returning order_no`,
      [paid],
    );
    expect(row).toBeDefined();
    const old = [91, 92, 93, 94, 95].map((cycleNo) => attempt(paid, cycleNo, 1));
    expect(await numbers()).toEqual([...all, ...old]);
    expect(await walk(on.viewer, '/payments?limit=2', 'payments', 'attemptNo')).toEqual([...all, ...old]);
    expect((await on.viewer.get('/payments/totals')).body).toMatchObject({ count: all.length + 5, isAtLeast: false });
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 90', [paid]);
  });

  it('of one moment are all found, by several pages', async () => {
    await on.sql(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at)
       select order_no, 1000 + n, 1, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS', started_at, started_at
       from debit_attempts, generate_series(1, 4500) n where order_no = $1 and cycle_no = 1`,
      [daily],
    );
    const found = await walk(on.viewer, '/payments?limit=200&appId=test_demo', 'payments', 'attemptNo');
    expect(found.length).toBe(all.length - 1 + 4500);
    expect(new Set(found).size).toBe(found.length);
    expect((await on.viewer.get('/payments/totals')).body).toMatchObject({
      count: all.length + 4500,
      isAtLeast: false,
    });
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 1000', [daily]);
  });

  it('are counted exactly up to ten thousand, and the totals say so beyond', async () => {
    const totals = async () => (await on.viewer.get('/payments/totals?productCode=DAILY_3')).body;
    const add = (from: number, to: number) =>
      on.sql(
        `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
           started_at, settled_at)
         select order_no, 1000 + n, 1, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS', started_at, started_at
         from debit_attempts, generate_series($2::integer, $3::integer) n where order_no = $1 and cycle_no = 1`,
        [daily, from, to],
      );
    const { amountCent } = await totals();
    await add(1, 9_999);
    expect(await totals()).toEqual({ count: 10_000, amountCent: 10_000 * amountCent, isAtLeast: false });
    await add(10_000, 10_000);
    expect(await totals()).toEqual({ count: 10_000, amountCent: 10_000 * amountCent, isAtLeast: true });
    const { body } = await on.viewer.get('/payments.csv?productCode=DAILY_3');
    const numbers = body
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line: string) => line.split(',')[0]);
    expect([numbers.length, new Set(numbers).size]).toEqual([10_001, 10_001]);
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 1000', [daily]);
  });

  it('are complete however slow the database is, on one page and in the totals', async () => {
    // Between the two debits of the product are 1,000 hours with debits of others.
    const far = `update debit_attempts set started_at = started_at - interval '1000 hours' where order_no = $1`;
    await on.sql(far, [daily]);
    await on.sql(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at)
       select order_no, 1000 + n, 1, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS',
         started_at - n * interval '1 hour', started_at
       from debit_attempts, generate_series(1, 900) n where order_no = $1 and cycle_no = 1`,
      [paid],
    );
    const slow = await slowConsole(on.service);
    for (const query of [{}, { appId: 'test_demo' }, { productCode: 'DAILY_3' }]) {
      const path = `/payments${search({ ...query, limit: '200' })}`;
      const found = (await slow.viewer.get(path)).body.payments.map(({ attemptNo }: Row) => attemptNo);
      expect(found).toHaveLength('productCode' in query ? 1 : 200);
      expect(found).toEqual(await numbers({ ...query, limit: '200' }));
    }
    expect((await slow.viewer.get('/payments/totals')).body).toMatchObject({
      count: all.length + 900,
      isAtLeast: false,
    });
    await slow.close();
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 1000', [paid]);
    await on.sql(far.replace('-', '+'), [daily]);
  });

  it('are not repeated on the next page when there are newer ones', async () => {
    const first = (await on.viewer.get('/payments?limit=2')).body;
    await on.sql(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at)
       select order_no, 1001, 1, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS', now() + interval '1 hour', now()
       from debit_attempts where order_no = $1 and cycle_no = 1`,
      [paid],
    );
    const { body } = await on.viewer.get(`/payments?cursor=${first.nextCursor}`);
    expect(body.payments.map(({ attemptNo }: Row) => attemptNo)).toEqual(all.slice(2));
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 1000', [paid]);
  });

  it.each([
    ['debits', {}, 'debit_attempts_at'],
    ['debits', { channelId: 100_001, paymentChannelCode: 'MOCKPAY' }, 'debit_attempts_of_channel'],
    ['debits', { channelId: 100_001, productCode: 'DAILY_3' }, 'external_orders_of_channel'],
    ['debits', { status: 'STARTED' } as const, 'debit_attempts_ask_at_idx'],
    ['refunds', {}, 'refunds_at'],
    ['refunds', { channelId: 100_001 }, 'refunds_of_channel'],
    ['refunds', { status: 'STARTED' } as const, 'refunds_ask_at_idx'],
  ] as const)('%s with %j are found by their index, and no table is read whole', async (listed, filter, index) => {
    for (const after of [undefined, [Date.now() * 1000, 1, 1, 1] as const]) {
      const { values, ...query } = await listedQuery(on.service.fresh.database, listed, filter, after, 51);
      const { database } = on.service.fresh;
      const plan = JSON.stringify(
        await database.query({ ...query, text: `explain (format json) ${query.text}` }, values),
      );
      expect(plan).toContain(`"${index}"`);
      expect(plan).not.toContain('"Seq Scan"');
    }
  });
});

describe('the refunds', () => {
  it('are listed latest first, with their filters and totals', async () => {
    const [refused, open, made] = [`R${periodNo(daily)}01`, `R${periodNo(retried)}01`, `R${periodNo(paid)}01`];
    expect(await refundNumbers()).toEqual([refused, open, made]);
    expect(await refundNumbers({ status: 'STARTED' })).toEqual([open]);
    expect(await refundNumbers({ status: 'FAIL', productCode: 'DAILY_3' })).toEqual([refused]);
    expect(await refundNumbers({ amountFrom: '400' })).toEqual([made]);
    expect(await walk(on.viewer, '/refunds?limit=1', 'refunds', 'refundNo')).toEqual([refused, open, made]);
    expect((await on.viewer.get('/refunds/totals')).body).toEqual({ count: 3, amountCent: 840, isAtLeast: false });
    expect((await on.viewer.get('/refunds?tryNo=1')).status).toBe(400);
    expect(await refunds({ status: 'SUCCESS' })).toMatchObject([
      {
        ...{
          refundNo: made,
          orderNo: paid,
          cycleNo: 1,
          amountCent: 490,
          requestedBy: 'ann',
          paymentStatus: 'REFUND_PART',
        },
        institutionRef: `ref-${made}`,
      },
    ]);
    expect(await refunds({ status: 'FAIL' })).toMatchObject([
      { reason: 'account closed', refundedAt: null, institutionRef: null },
    ]);
  });
});

describe('an export', () => {
  const lines = (text: string) => text.replace('\uFEFF', '').trimEnd().split('\r\n');

  it('has all matching rows, and is in the audit log once', async () => {
    const { body, headers } = await on.viewer.get('/payments.csv?appId=test_demo');
    expect(headers.get('content-disposition')).toContain('payments.csv');
    const [header, ...rows] = lines(body);
    expect(header).toMatch(/^attemptNo,orderNo,externalOrderNo,.*,amount,.*,institutionRef,currency$/);
    expect(rows[0]).toMatch(/,SUCCESS,\w+,19\.90,/);
    expect(rows.map((row) => row.replaceAll(/["'=\t]/g, '').split(',')[0])).toEqual(
      (await numbers({ appId: 'test_demo' })).map(String),
    );
    await on.viewer.get('/payments.csv?appId=test_demo');
    const refundRows = lines((await on.viewer.get('/refunds.csv?status=SUCCESS')).body);
    expect(refundRows).toEqual([
      expect.stringMatching(/,institutionRef,currency$/),
      expect.stringContaining(`,ref-R${periodNo(paid)}01,`),
    ]);
    expect(
      await on.sql(
        `select action, subject, detail - 'hash' as detail from audit_log where action like '%.export' order by audit_id`,
      ),
    ).toEqual([
      { action: 'debits.export', subject: 'debits', detail: { productCode: 'DAILY_3' } },
      { action: 'debits.export', subject: 'debits', detail: { appId: 'test_demo' } },
      { action: 'refunds.export', subject: 'refunds', detail: { status: 'SUCCESS' } },
    ]);
  });
});

describe('asking the institution now', () => {
  const ask = async (who: ConsoleClient, path: string, body: object) => (await who.post(path, body)).body;
  const later = (table: string) =>
    on.sql(`update ${table} set ask_at = now() + interval '1 hour' where ask_at is not null`);

  it('settles one debit whose query was an hour away', async () => {
    await later('debit_attempts');
    expect(await on.askDue()).toBe(0);
    const number = attempt(pending, 1, 1);
    expect(await ask(on.support, '/payments/ask', { number })).toEqual({ asked: 1, soon: 0, left: 0 });
    expect(await ask(on.support, '/payments/ask', { number })).toEqual({ asked: 0, soon: 1, left: 0 });
    on.institution.onQuery = async () => ({ kind: 'unknown' });
    expect(await on.askDue()).toBe(1);
    expect(on.institution.queries.map(({ attemptNo }) => attemptNo)).toEqual([number]);
    expect(await on.sql(`select actor, subject, detail from audit_log where action = 'debits.ask'`)).toEqual([
      { actor: on.support.name, subject: pending, detail: { number, cycleNo: 1 } },
    ]);
    expect((await on.support.post('/payments/ask', { number: 'x' })).status).toBe(404);
    expect((await on.support.post('/payments/ask', { number: `R${periodNo(paid)}01` })).status).toBe(404);
  });

  it('settles all that match, and none that does not', async () => {
    await later('debit_attempts');
    expect(await ask(on.ann, '/payments/ask', { tryNo: '2' })).toEqual({ asked: 0, soon: 0, left: 0 });
    expect(await ask(on.ann, '/payments/ask', { productCode: 'DAILY_3' })).toEqual({ asked: 0, soon: 0, left: 0 });
    expect(await ask(on.ann, '/payments/ask', { appId: 'test_demo', tryNo: '1' })).toEqual({
      asked: 1,
      soon: 0,
      left: 0,
    });
    on.institution.reset();
    await on.askDue();
    expect(await numbers({ status: 'STARTED' })).toEqual([]);
    expect(await on.sql(`select subject, detail from audit_log where action = 'debits.ask' and actor = 'ann'`)).toEqual(
      [{ subject: 'debits', detail: { filter: { appId: 'test_demo', tryNo: '1' }, asked: 1, soon: 0, left: 0 } }],
    );
  });

  it('settles refunds too', async () => {
    await later('refunds');
    expect(await ask(on.ann, '/refunds/ask', { number: `R${periodNo(retried)}01` })).toMatchObject({ asked: 1 });
    on.bank.onQuery = async () => ({ kind: 'success', refundedAt: on.service.clock.now(), amountCent: 300 });
    await on.askDueRefunds();
    expect(await refundNumbers({ status: 'STARTED' })).toEqual([]);
    on.bank.reset();
  });

  it('brings forward at most a thousand queries, oldest first', async () => {
    await on.sql(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, started_at,
         ask_at)
       select order_no, 1000 + n, 1, channel_id, agreement_id, payment_channel_code, amount_cent, started_at + n * interval '1 s',
         now() + interval '1 hour'
       from debit_attempts, generate_series(1, 1002) n where order_no = $1 and cycle_no = 1`,
      [paid],
    );
    expect(await ask(on.ann, '/payments/ask', {})).toEqual({ asked: 1000, soon: 0, left: 2 });
    expect(
      await on.sql('select cycle_no from debit_attempts where ask_at > now() and order_no = $1 order by 1', [paid]),
    ).toEqual([{ cycle_no: 2001 }, { cycle_no: 2002 }]);
    await on.sql('delete from debit_attempts where order_no = $1 and cycle_no > 1000', [paid]);
  });
});

describe('saved views', () => {
  const views = async (who: ConsoleClient) => (await who.get('/views')).body.views;

  it('are an operator’s own, and follow the operator', async () => {
    const view = { name: 'Institution down', address: '/payments?status=STARTED&paymentChannelCode=MOCKPAY' };
    const saved = await on.viewer.post('/views', view);
    expect(saved.body).toEqual({ viewId: expect.any(String), ...view });
    expect(await views(on.viewer)).toEqual([saved.body]);
    expect(await views(on.ann)).toEqual([]);
    const changed = { ...view, address: '/payments?status=STARTED' };
    expect((await on.viewer.post('/views', changed)).body).toEqual({ ...saved.body, ...changed });
    const path = `/views/${saved.body.viewId}`;
    expect((await on.ann.delete(path)).status).toBe(404);
    expect((await on.viewer.delete(path)).status).toBe(200);
    expect(await views(on.viewer)).toEqual([]);
  });

  it.each([
    'https://example.org/payments',
    '//example.org',
    '/orders?channelUserId=ann',
    '/payments#x',
    '/payments/../x',
  ])('refuse %s', async (address) => {
    expect((await on.viewer.post('/views', { name: 'x', address })).status).toBe(400);
  });

  it('are at most fifty', async () => {
    for (let n = 0; n < 50; n += 1) await on.bob.post('/views', { name: `view ${n}`, address: '/payments' });
    expect((await on.bob.post('/views', { name: 'one more', address: '/payments' })).body.code).toBe('too-many');
    expect((await on.bob.post('/views', { name: 'view 1', address: '/payments?tryNo=2' })).status).toBe(200);
  });
});
