import { describe, expect, it, onTestFinished } from 'vitest';
import { noticeDueOrders } from '../../src/engine/jobs/notices.js';
import { setUpcomingNotices } from '../../src/operator/provisioning/channel-settings.js';
import { noticesOf, toldOf } from '../notices/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { send } from '../support/channel-client.js';
import { testService } from '../support/service.js';
import { statuses, timeMachine } from './support.js';

const machine = ofFile(timeMachine);

const DAYS = [
  '2026-02-28',
  '2026-03-31',
  '2026-04-30',
  '2026-05-31',
  '2026-06-30',
  '2026-07-31',
  '2026-08-31',
  '2026-09-30',
  '2026-10-31',
  '2026-11-30',
  '2026-12-31',
];

describe('sandbox/orders/advance', () => {
  it('0: RETRY_MISSED, the next period falls due before the retry: the period is given up, and the next succeeds', async () => {
    const orderNo = await machine.deducted();
    expect(statuses((await machine.advance(orderNo, { cycles: 1, outcomes: ['RETRY_MISSED'] })).data)[1]).toBe(
      'FAIL_RETRY',
    );
    const missed = await machine.advance(orderNo, { cycles: 1, outcomes: ['RETRY_MISSED'] });
    expect(statuses(missed.data).slice(1, 3)).toEqual(['FAIL', 'WAIT']);
    const next = await machine.advance(orderNo, { cycles: 1 });
    expect(statuses(next.data).slice(1, 3)).toEqual(['FAIL', 'SUCCESS']);
    expect((await machine.told(orderNo)).slice(2)).toEqual([
      '2026-02-28 12:00:00 period 2 FAIL_RETRY',
      '2026-03-31 12:00:00 period 2 FAIL',
      '2026-03-31 12:00:00 period 3 SUCCESS',
    ]);
  });

  it('0: PENDING, the debit stays open; after an unsubscribe its result is stored, and no other period begins', async () => {
    const orderNo = await machine.deducted();
    const { data } = await machine.advance(orderNo, { cycles: 2, outcomes: ['PENDING'] });
    expect(statuses(data).slice(0, 3)).toEqual(['SUCCESS', 'PROCESSING', 'WAIT']);
    expect((await machine.advance(orderNo, { cycles: 1 })).data.paymentRecords[1].paymentStatus).toBe('PROCESSING');
    expect((await machine.channel.call('orders/unsubscribe', { orderNo })).code).toBe('0');
    await machine.askPending();
    expect(statuses(await machine.query(orderNo)).slice(0, 3)).toEqual(['SUCCESS', 'SUCCESS', 'CANCELED']);
  });

  it.each([
    ['SVC_DEDUCT', 'SUCCESS'],
    ['CHANNEL_COLLECT', 'BILLED'],
  ])('0: %s, a whole year in one call, each period with its day, its events and its benefits', async (mode, status) => {
    const orderNo = await (mode === 'SVC_DEDUCT' ? machine.deducted() : machine.collected());
    const { code, data } = await machine.advance(orderNo, { cycles: 11 });
    expect(code).toBe('0');
    expect(data).toMatchObject({
      orderNo,
      orderStatus: 'COMPLETED',
      totalPaidAmountCent: 12 * 1990,
      nextPayTime: null,
    });
    expect(data).toEqual({ ...(await machine.query(orderNo)), redeemUrl: expect.any(String) });
    expect(data.paymentRecords.slice(1)).toMatchObject(
      DAYS.map((day, n) => ({
        cycleNo: n + 2,
        paymentStatus: status,
        expectPayTime: `${day} 12:00:00`,
        paidAt: `${day} 12:00:00`,
      })),
    );
    expect(await machine.told(orderNo)).toEqual([
      `2026-01-31 12:00:00 period 1 ${status}`,
      '2026-01-31 12:00:00 order ACTIVE',
      ...DAYS.map((day, n) => `${day} 12:00:00 period ${n + 2} ${status}`),
      '2026-12-31 12:00:00 order COMPLETED',
    ]);
    const benefits = await machine.service.fresh.database.query(
      `select cycle_no, left(issued_at::text, 19) as issued, left(expires_at::text, 10) as expires from benefits
       where order_no = $1 and cycle_no in (2, 12) order by cycle_no, position`,
      [orderNo],
    );
    expect(benefits).toEqual([
      { cycle_no: 2, issued: '2026-02-28 12:00:00', expires: '2026-05-29' },
      { cycle_no: 2, issued: '2026-02-28 12:00:00', expires: '2026-05-29' },
      { cycle_no: 12, issued: '2026-12-31 12:00:00', expires: '2027-03-31' },
      { cycle_no: 12, issued: '2026-12-31 12:00:00', expires: '2027-03-31' },
    ]);
  });

  it('0: by externalOrderNo, and no further than asked for', async () => {
    const orderNo = await machine.deducted({ externalOrderNo: 'MY-ORDER' });
    const { data } = await machine.channel.call('sandbox/orders/advance', { externalOrderNo: 'MY-ORDER', cycles: 2 });
    expect(data).toMatchObject({ orderNo, orderStatus: 'ACTIVE', nextPayTime: '2026-04-30 12:00:00' });
    expect(statuses(data).slice(0, 4)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS', 'WAIT']);
    expect((await machine.advance(orderNo, { cycles: 1 })).data.nextPayTime).toBe('2026-05-31 12:00:00');
  });

  it('0: more periods than are left run those that are left', async () => {
    const orderNo = await machine.collected({ productCode: 'TEST_SPU_DAILY_7' });
    const { data } = await machine.advance(orderNo, { cycles: 9999 });
    expect(data).toMatchObject({ orderStatus: 'COMPLETED', totalPaidAmountCent: 700 });
  });

  it.each([
    ['2026-03-31 12:00:00', 3],
    ['2026-03-31 11:59:59', 2],
    ['2026-03-31T04:00:00Z', 3],
    ['2026-03-31T03:59:59.999Z', 2],
    ['2036-01-01 00:00:00', 12],
  ])('0: up to %s: %i periods', async (to, paid) => {
    for (const orderNo of [await machine.deducted(), await machine.collected()]) {
      const { data } = await machine.advance(orderNo, { to });
      expect(statuses(data).filter((status) => status !== 'WAIT')).toHaveLength(paid);
    }
  });

  it('0: up to a time at which nothing is due: the order is unchanged', async () => {
    const orderNo = await machine.deducted();
    const before = await machine.everything(orderNo);
    const { code, data } = await machine.advance(orderNo, { to: '2026-01-31 12:00:00' });
    expect([code, data.nextPayTime]).toEqual(['0', '2026-02-28 12:00:00']);
    expect(await machine.everything(orderNo)).toEqual(before);
  });

  it.each(['2026-01-31 11:59:59', '0001-01-01 00:00:00', '0000-01-01 00:00:00'])(
    '400001: up to %s, before the order was created',
    async (to) => {
      const orderNo = await machine.deducted();
      const before = await machine.everything(orderNo);
      expect(await machine.advance(orderNo, { to })).toMatchObject({ code: '400001', data: null });
      expect(await machine.everything(orderNo)).toEqual(before);
    },
  );

  it('0: an event due at a fraction of a second happens at the next whole second', async () => {
    for (const orderNo of [await machine.deducted(), await machine.collected()]) {
      const later = `update orders set next_due_at = next_due_at + interval '1 microsecond' where order_no = $1`;
      await machine.service.fresh.database.query(later, [orderNo]);
      const { data } = await machine.advance(orderNo, { cycles: 1 });
      expect(data.paymentRecords[1]).toMatchObject({ paidAt: '2026-02-28 12:00:01' });
    }
  });

  it('calls no institution, and leaves no attempt open', async () => {
    machine.institution.reset();
    const orderNo = await machine.deducted();
    await machine.advance(orderNo, { cycles: 11, outcomes: ['FAIL_RETRY', 'FAIL'] });
    expect(machine.institution.debits).toHaveLength(1);
    const open = await machine.service.fresh.database.query(
      `select from debit_attempts where order_no = $1 and (status = 'STARTED' or ask_at is not null)`,
      [orderNo],
    );
    expect(open).toEqual([]);
  });
});

describe('outcomes', () => {
  it('0: one per period; all but the last run their full retry schedule', async () => {
    const orderNo = await machine.deducted();
    const outcomes = ['FAIL_RETRY', 'FAIL', 'SUCCESS', 'FAIL_RETRY'];
    const { data } = await machine.advance(orderNo, { cycles: 4, outcomes });
    expect(statuses(data).slice(0, 6)).toEqual(['SUCCESS', 'FAIL', 'FAIL', 'SUCCESS', 'FAIL_RETRY', 'WAIT']);
    expect((await machine.told(orderNo)).slice(2)).toEqual([
      '2026-02-28 12:00:00 period 2 FAIL_RETRY',
      '2026-03-01 12:00:00 period 2 FAIL_RETRY',
      '2026-03-04 12:00:00 period 2 FAIL_RETRY',
      '2026-03-09 12:00:00 period 2 FAIL_RETRY',
      '2026-03-16 12:00:00 period 2 FAIL',
      '2026-03-31 12:00:00 period 3 FAIL',
      '2026-04-30 12:00:00 period 4 SUCCESS',
      '2026-05-31 12:00:00 period 5 FAIL_RETRY',
    ]);
    expect(data).toMatchObject({ totalPaidAmountCent: 2 * 1990, nextPayTime: '2026-06-01 12:00:00' });
  });

  it('0: an open period counts as the first', async () => {
    const orderNo = await machine.deducted();
    await machine.advance(orderNo, { cycles: 1, outcomes: ['FAIL_RETRY'] });
    const { data } = await machine.advance(orderNo, { cycles: 2, outcomes: ['SUCCESS', 'FAIL'] });
    expect(statuses(data).slice(0, 4)).toEqual(['SUCCESS', 'SUCCESS', 'FAIL', 'WAIT']);
  });

  it('0: with `to` as well, including retries', async () => {
    const orderNo = await machine.deducted();
    const { data } = await machine.advance(orderNo, { to: '2026-03-05 00:00:00', outcomes: ['FAIL_RETRY'] });
    expect([statuses(data)[1], data.nextPayTime]).toEqual(['FAIL_RETRY', '2026-03-09 12:00:00']);
    expect(await machine.told(orderNo)).toHaveLength(2 + 3);
  });

  it('0: missing ones succeed', async () => {
    const { data } = await machine.advance(await machine.deducted(), { cycles: 3, outcomes: ['FAIL'] });
    expect(statuses(data).slice(1, 5)).toEqual(['FAIL', 'SUCCESS', 'SUCCESS', 'WAIT']);
  });

  it('0: AGREEMENT_INVALID ends the order there', async () => {
    const orderNo = await machine.deducted();
    const { code, data } = await machine.advance(orderNo, { cycles: 11, outcomes: ['SUCCESS', 'AGREEMENT_INVALID'] });
    expect([code, data.orderStatus, data.unsubscribeTime]).toEqual(['0', 'UNSUBSCRIBED', '2026-03-31 12:00:00']);
    expect(statuses(data).slice(1, 4)).toEqual(['SUCCESS', 'FAIL', 'CANCELED']);
    expect((await machine.told(orderNo)).slice(3)).toEqual([
      '2026-03-31 12:00:00 period 3 FAIL',
      '2026-03-31 12:00:00 order UNSUBSCRIBED',
      '2026-03-31 12:00:00 period 4 CANCELED',
    ]);
  });

  it('0: SUCCESS is what a channel that collects has anyway', async () => {
    const { data } = await machine.advance(await machine.collected(), { cycles: 2, outcomes: ['SUCCESS', 'SUCCESS'] });
    expect(statuses(data).slice(1, 4)).toEqual(['BILLED', 'BILLED', 'WAIT']);
  });
});

describe('sandbox/orders/advance is refused', () => {
  it.each(['FAIL', 'FAIL_RETRY', 'AGREEMENT_INVALID'])(
    '400001: %s for an order that its channel collects',
    async (no) => {
      const orderNo = await machine.collected();
      const before = await machine.everything(orderNo);
      expect((await machine.advance(orderNo, { cycles: 2, outcomes: ['SUCCESS', no] })).code).toBe('400001');
      expect(await machine.everything(orderNo)).toEqual(before);
    },
  );

  it('420003: unsubscribed or terminated; 420004: completed; 420008: before its first result', async () => {
    const unsubscribed = await machine.deducted();
    await machine.channel.call('orders/unsubscribe', { orderNo: unsubscribed });
    machine.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'no' });
    const terminated = await machine.deducted();
    machine.institution.onDebit = async () => ({ kind: 'pending' });
    const pending = await machine.deducted();
    machine.institution.reset();
    const completed = await machine.collected({ productCode: 'TEST_SPU_DAILY_7' });
    await machine.advance(completed, { cycles: 6 });
    for (const [orderNo, code] of [
      [unsubscribed, '420003'],
      [terminated, '420003'],
      [completed, '420004'],
      [pending, '420008'],
    ] as const) {
      const before = await machine.everything(orderNo);
      expect((await machine.advance(orderNo, { cycles: 1 })).code).toBe(code);
      // The order's status is checked before the outcomes, so wrong outcomes do not change the answer's code.
      expect((await machine.advance(orderNo, { cycles: 1, outcomes: ['FAIL'] })).code).toBe(code);
      expect(await machine.everything(orderNo)).toEqual(before);
    }
  });
});

it('404001: production has none of the sandbox endpoints, for any caller and method', async () => {
  const service = await testService({ environment: 'production' });
  onTestFinished(() => service.close());
  const channel = await service.channel();
  const path = '/openapi/v1/sandbox/orders/advance';
  const replies = [
    await channel.call('sandbox/orders/advance', { orderNo: '1', cycles: 1 }),
    await channel.call('sandbox/events/pull', { path: '/' }),
    await channel.call('sandbox/payments/refund', { paymentOrderNo: '1' }),
    await send(service.baseUrl, 'POST', path, {}, Buffer.from('')),
    await send(service.baseUrl, 'GET', path, {}, Buffer.from('')),
  ];
  for (const { status, code } of replies) expect([status, code]).toEqual([404, '404001']);
  expect((await channel.call('orders/query', { orderNo: '1' })).code).toBe('420001');
});

/** The last tests check that time travel also writes the notices of upcoming payments. */
const want = (days: number | null) => setUpcomingNotices(machine.service.operator, { appId: 'test_demo', days });
const told = (orderNo: string) => toldOf(machine.service.fresh.database, orderNo);
const noticed = (orderNo: string) => noticesOf(machine.service.fresh.database, orderNo);

it.each([
  ['SVC_DEDUCT', 'SUCCESS'],
  ['CHANNEL_COLLECT', 'BILLED'],
])('%s, three periods: three notices, each at its own time before its period, and none again', async (mode, status) => {
  await want(5);
  const orderNo = await (mode === 'SVC_DEDUCT' ? machine.deducted() : machine.collected());
  const { data } = await machine.advance(orderNo, { cycles: 2 });
  expect(data).toEqual({ ...(await machine.query(orderNo)), redeemUrl: expect.any(String) });
  await machine.advance(orderNo, { cycles: 1 });
  expect((await told(orderNo)).slice(2)).toEqual([
    '2026-02-23 12:00:00 period 2 upcoming',
    `2026-02-28 12:00:00 period 2 ${status}`,
    '2026-03-26 12:00:00 period 3 upcoming',
    `2026-03-31 12:00:00 period 3 ${status}`,
    '2026-04-25 12:00:00 period 4 upcoming',
    `2026-04-30 12:00:00 period 4 ${status}`,
  ]);
});

it('an event that the engine has sent is not sent again, and a channel that wants no notices gets none', async () => {
  await want(5);
  const orderNo = await machine.collected();
  // The notice is long due by the database's clock. Other orders get no notices.
  await machine.service.fresh.database.query('update orders set notice_days = null where order_no <> $1', [orderNo]);
  expect(await noticeDueOrders(machine.service.fresh.database)).toBe(1);
  await machine.advance(orderNo, { cycles: 1 });
  expect((await told(orderNo)).filter((line) => line.endsWith('period 2 upcoming'))).toHaveLength(1);
  await want(null);
  const quiet = await machine.deducted();
  await machine.advance(quiet, { cycles: 3 });
  expect(await noticed(quiet)).toEqual([]);
});
