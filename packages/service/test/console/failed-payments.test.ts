import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failedPaymentsQuery } from '../../src/operator/payments/failed-payments-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { periodNo } from '../refunds/support.js';
import { declined } from '../renewals/support.js';
import { sharedRequest } from '../support/demo.js';
import { operatorStage } from './operators.js';
import { walk } from './support.js';

const on = ofFile(operatorStage);
let waiting: string[];
let failed: string;
let terminated: string;
let recovered: string;
beforeAll(async () => {
  recovered = await on.paidOrder();
  await on.renewNow(recovered, 'retryable');
  await on.renewNow(recovered);
  waiting = [];
  for (let n = 0; n < 3; n += 1) {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    waiting.push(orderNo);
    on.service.clock.advance(1_000);
  }
  await on.renewNow(waiting[2] ?? '', 'retryable');
  failed = await on.paidOrder();
  await on.renewNow(failed, 'final');
  on.service.clock.advance(1_000);
  on.institution.onDebit = async () => ({ ...declined('final'), declineKind: 'CARD_EXPIRED' });
  terminated = (await on.channel.call('orders/create', sharedRequest(on.channel))).data.orderNo;
  on.institution.reset();
});

const list = async (query: Record<string, string> = {}) =>
  (await on.viewer.get(`/payments/failed?${new URLSearchParams(query)}`)).body;
const numbers = async (query: Record<string, string> = {}) =>
  (await list(query)).payments.map(({ orderNo }: { orderNo: string }) => orderNo);

describe('failed payments', () => {
  it('are those whose latest debit failed, latest first, without those paid since', async () => {
    const { payments, nextCursor } = await list();
    expect(nextCursor).toBeNull();
    expect(payments.map(({ orderNo }: { orderNo: string }) => orderNo).slice(0, 2)).toEqual([terminated, failed]);
    expect((await numbers()).toSorted()).toEqual([...waiting, failed, terminated].toSorted());
    const { nextPayTime } = await on.query(waiting[2] ?? '');
    expect(payments).toContainEqual({
      orderNo: waiting[2],
      cycleNo: 2,
      paymentOrderNo: periodNo(waiting[2] ?? '', 2),
      appId: 'test_demo',
      productCode: 'TEST_SPU_001',
      paymentChannelCode: 'MOCKPAY',
      paymentStatus: 'FAIL_RETRY',
      amountCent: 1990,
      reason: 'because retryable',
      declineKind: 'OTHER',
      tries: 2,
      failedAt: expect.any(String),
      nextTryAt: nextPayTime,
    });
    expect(payments[0]).toMatchObject({ paymentStatus: 'FAIL', reason: 'because final', tries: 1, nextTryAt: null });
    expect(payments[0]).toMatchObject({ declineKind: 'CARD_EXPIRED' });
  });

  it('by status: those waiting for a retry are sorted by its time', async () => {
    expect(await numbers({ status: 'FAIL_RETRY' })).toEqual(waiting);
    expect(await numbers({ status: 'FAIL' })).toEqual([terminated, failed]);
    expect((await on.viewer.get('/payments/failed?status=SUCCESS')).status).toBe(400);
  });

  it('by kind of decline, and an attempt that an older node settled is OTHER', async () => {
    expect(await numbers({ declineKind: 'CARD_EXPIRED' })).toEqual([terminated]);
    expect(await numbers({ declineKind: 'CARD_LOST' })).toEqual([]);
    const others = await numbers({ declineKind: 'OTHER' });
    expect(others.toSorted()).toEqual([...waiting, failed].toSorted());
    await on.sql('update failed_payments set decline_kind = null where order_no = $1', [failed]);
    expect(await numbers({ declineKind: 'OTHER' })).toEqual(others);
    expect((await on.viewer.get('/payments/failed?declineKind=UNHEARD_OF')).status).toBe(400);
  });

  it('by reason, institution, channel, product and time', async () => {
    expect(await numbers({ reason: 'because final' })).toEqual([terminated, failed]);
    expect(await numbers({ reason: 'because' })).toEqual([]);
    for (const status of ['FAIL_RETRY', 'FAIL', '']) {
      const of = status === '' ? {} : { status };
      const all = await numbers(of);
      for (const [name, value, other] of [
        ['paymentChannelCode', 'MOCKPAY', 'BANK'],
        ['appId', 'test_demo', undefined],
        ['productCode', 'TEST_SPU_001', 'TEST_SPU_DAILY_7'],
        ['from', '2026-01-01', '2999-01-01'],
        ['to', '2999-01-01', '2026-01-01'],
      ] as const) {
        expect(await numbers({ ...of, [name]: value })).toEqual(all);
        if (other !== undefined) expect(await numbers({ ...of, [name]: other })).toEqual([]);
      }
    }
    expect((await on.viewer.get('/payments/failed?appId=nobody')).status).toBe(404);
    expect((await on.viewer.get('/payments/failed?from=yesterday')).status).toBe(400);
  });

  it.each([{}, { status: 'FAIL_RETRY' }, { status: 'FAIL' }] as Record<string, string>[])(
    'page by page the same: %j',
    async (query) => {
      const path = `/payments/failed?${new URLSearchParams({ ...query, limit: '1' })}`;
      expect(await walk(on.viewer, path, 'payments', 'orderNo')).toEqual(await numbers(query));
    },
  );

  it('refuse a forged cursor', async () => {
    for (const cursor of ['x', '1', '1.2.3.4', '-1.2.3', '1.2.3e2']) {
      expect((await on.viewer.get(`/payments/failed?cursor=${cursor}`)).status).toBe(400);
    }
  });

  it('are listed while their latest debit has failed, not during a retry or once they are paid', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    expect(await numbers()).toContain(orderNo);
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    await on.renewNow(orderNo);
    expect(await numbers()).not.toContain(orderNo);
    on.institution.reset();
  });

  describe('behind many later ones of another institution', () => {
    beforeAll(async () => {
      await on.sql(
        `insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent,
           tries, reason, failed_at)
         select -n, 1, channel_id, product_code, 'BANK', 'FAIL', 1, 1, 'noise', now() + interval '2 hours'
         from generate_series(1, 5000) n, failed_payments where order_no = $1`,
        [failed],
      );
      await on.sql('analyze failed_payments');
    });
    afterAll(() => on.sql('delete from failed_payments where order_no < 0'));

    it('are found', async () => {
      expect((await numbers({ paymentChannelCode: 'MOCKPAY' })).slice(0, 2)).toEqual([terminated, failed]);
      const { body } = await on.viewer.get('/payments/failed/summary?paymentChannelCode=MOCKPAY');
      expect(body).toMatchObject({ isAtLeast: false, total: { payments: 5 } });
    });

    it('are counted exactly up to ten thousand, and the summary says so beyond', async () => {
      const noise = async () => (await on.viewer.get('/payments/failed/summary?reason=noise')).body;
      const add = (from: number, to: number) =>
        on.sql(
          `insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent,
             tries, reason, failed_at)
           select -n, 2, channel_id, product_code, 'BANK', 'FAIL', 1, 1 + n % 2, 'noise', now() + interval '2 hours'
           from generate_series($2::integer, $3::integer) n, failed_payments where order_no = $1`,
          [failed, from, to],
        );
      const full = { payments: 10_000, amountCent: 10_000 };
      await add(1, 5000);
      expect(await noise()).toMatchObject({ isAtLeast: false, total: full, byReason: [{ reason: 'noise', ...full }] });
      await add(5001, 5001);
      expect(await noise()).toMatchObject({ isAtLeast: true, total: full, byReason: [{ reason: 'noise', ...full }] });
    });

    it.each([
      ['all', {}, 'failed_payments_at'],
      ['of a channel', { channelId: 100_001 }, 'failed_payments_of_channel'],
      ['of a product', { productCode: 'NONE' }, 'failed_payments_of_product'],
      ['for a reason', { reason: 'noise' }, 'failed_payments_because'],
      ['of a kind', { declineKind: 'CARD_EXPIRED' } as const, 'failed_payments_of_kind'],
      ['that are tried again', { status: 'FAIL_RETRY', channelId: 100_001 } as const, 'failed_payments_pkey'],
    ])('%s are found by their index, and no table is read whole', async (_what, filter, index) => {
      const { values, ...query } = failedPaymentsQuery(filter, undefined, 51);
      const { database } = on.service.fresh;
      const plan = JSON.stringify(
        await database.query({ ...query, text: `explain (format json) ${query.text}` }, values),
      );
      expect(plan).toContain(`"${index}"`);
      expect(plan).not.toContain('"Seq Scan"');
    });
  });
});

describe('the summary', () => {
  it('counts by kind, reason, institution and attempt, and payments recovered by retries', async () => {
    const { body } = await on.viewer.get('/payments/failed/summary');
    expect(body).toEqual({
      isAtLeast: false,
      total: { payments: 5, amountCent: 5 * 1990 },
      byKind: [
        { declineKind: 'OTHER', payments: 4, amountCent: 4 * 1990 },
        { declineKind: 'CARD_EXPIRED', payments: 1, amountCent: 1990 },
      ],
      byReason: [
        { reason: 'because retryable', declineKind: 'OTHER', payments: 3, amountCent: 3 * 1990 },
        { reason: 'because final', declineKind: 'OTHER', payments: 1, amountCent: 1990 },
        { reason: 'because final', declineKind: 'CARD_EXPIRED', payments: 1, amountCent: 1990 },
      ],
      byInstitution: [{ paymentChannelCode: 'MOCKPAY', payments: 5, amountCent: 5 * 1990 }],
      byTry: [
        { tryNo: 1, payments: 4, amountCent: 4 * 1990 },
        { tryNo: 2, payments: 1, amountCent: 1990 },
      ],
      recoveredByTry: [{ tryNo: 2, payments: 1, amountCent: 1990 }],
      isRecoveredAtLeast: false,
    });
  });

  it('of a filter', async () => {
    const { body } = await on.viewer.get('/payments/failed/summary?status=FAIL_RETRY&appId=test_demo');
    expect(body).toMatchObject({ total: { payments: 3 }, recoveredByTry: [{ tryNo: 2, payments: 1 }] });
    const none = await on.viewer.get('/payments/failed/summary?productCode=TEST_SPU_DAILY_7&paymentChannelCode=BANK');
    expect(none.body).toMatchObject({ total: { payments: 0 }, recoveredByTry: [] });
    const product = await on.viewer.get('/payments/failed/summary?productCode=TEST_SPU_001');
    expect(product.body.recoveredByTry).toEqual([{ tryNo: 2, payments: 1, amountCent: 1990 }]);
  });
});
