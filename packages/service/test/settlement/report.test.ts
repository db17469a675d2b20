import { parseTime } from '@perennial/wire';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { csvField } from '../../src/platform/csv/csv-field.js';
import { ZERO_SUMS } from '../../src/settlement/sums.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { putAttempt, putRefund } from '../reconciliation/support.js';
import { freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';
import { putOrder, putPayment, report, reportAs } from './support.js';

const fresh = ofFile(freshDatabase);
let operator: OperatorWithClock;
let channelId: string;
const clock = manualClock();
const APP = 'test_one';
const at = (time: string) => parseTime(time) ?? Number.NaN;

beforeAll(async () => {
  operator = { ...operatorOn(fresh.database), clock };
  ({ channelId } = await createChannel(operator, { name: 'One', appId: APP }));
  await createChannel(operator, { name: 'Other', appId: 'test_other' });
});
beforeEach(async () => {
  clock.set(at('2026-03-15 12:00:00'));
  await fresh.database.query('truncate orders, payments, refunds, debit_attempts');
});

const put = (cycleNo: number, paidAt: string, more: object = {}) =>
  putPayment(fresh.database, {
    ...{ orderNo: 1001, cycleNo, channelId, amountCent: 1990, status: 'SUCCESS', paidAt: at(paidAt) },
    ...more,
  });
const month = (of = '2026-02') => report(operator, of, APP);

describe('a settlement report', () => {
  it('lists what was collected, refunded and billed, in the order of time, with sums by product and mode', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId, externalOrderNo: 'A-1' });
    await putOrder(fresh.database, { orderNo: 1002, channelId, mode: 'CHANNEL_COLLECT', productCode: 'DAILY' });
    await put(1, '2026-02-01 10:00:00', {
      status: 'REFUND_PART',
      refunds: [{ amountCent: 500, at: at('2026-02-28 09:00:00') }],
    });
    await put(2, '2026-02-20 10:00:00');
    await put(3, '2026-02-03 10:00:00', { orderNo: 1002, status: 'BILLED', amountCent: 100 });
    const common = { productCode: 'MONTHLY', settlementMode: 'SVC_DEDUCT', externalOrderNo: 'A-1' };
    expect(await month()).toEqual({
      ...{ appId: APP, month: '2026-02', currency: 'CNY', monthIsOver: true, unsettled: { debits: 0, refunds: 0 } },
      ...{ status: 'OPEN', closedBy: null, closedAt: null, later: ZERO_SUMS, sinceClosed: ZERO_SUMS },
      lines: [
        {
          ...{ ...common, kind: 'COLLECTED', time: '2026-02-01 10:00:00', paymentOrderNo: '10010001', refundNo: null },
          ...{ cycleNo: 1, amountCent: 1990 },
        },
        {
          ...{ kind: 'BILLED', time: '2026-02-03 10:00:00', paymentOrderNo: '10020003', refundNo: null, cycleNo: 3 },
          ...{
            externalOrderNo: 'order-1002',
            productCode: 'DAILY',
            settlementMode: 'CHANNEL_COLLECT',
            amountCent: 100,
          },
        },
        {
          ...{ ...common, kind: 'COLLECTED', time: '2026-02-20 10:00:00', paymentOrderNo: '10010002', refundNo: null },
          ...{ cycleNo: 2, amountCent: 1990 },
        },
        {
          ...{ ...common, kind: 'REFUNDED', time: '2026-02-28 09:00:00', paymentOrderNo: '10010001', cycleNo: 1 },
          ...{ refundNo: 'R1001000101', amountCent: 500 },
        },
      ],
      products: [
        {
          ...{ productCode: 'DAILY', settlementMode: 'CHANNEL_COLLECT', collectedCent: 0, collectedCount: 0 },
          ...{ refundedCent: 0, refundedCount: 0, billedCent: 100, billedCount: 1 },
        },
        {
          ...{ productCode: 'MONTHLY', settlementMode: 'SVC_DEDUCT', collectedCent: 3980, collectedCount: 2 },
          ...{ refundedCent: 500, refundedCount: 1, billedCent: 0, billedCount: 0 },
        },
      ],
      totals: {
        ...{
          collectedCent: 3980,
          collectedCount: 2,
          refundedCent: 500,
          refundedCount: 1,
          billedCent: 100,
          billedCount: 1,
        },
      },
    });
  });

  it('has a month from its first moment in Asia/Shanghai to its last', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    await put(1, '2026-01-31T23:59:59.999+08:00');
    await put(2, '2026-02-01 00:00:00');
    await put(3, '2026-02-28T23:59:59.999+08:00');
    await put(4, '2026-03-01 00:00:00');
    expect((await month()).lines.map(({ cycleNo }) => cycleNo)).toEqual([2, 3]);
    expect((await month('2026-01')).lines.map(({ cycleNo }) => cycleNo)).toEqual([1]);
    expect((await month('2026-03')).lines.map(({ cycleNo }) => cycleNo)).toEqual([4]);
  });

  it('shows a payment in the month it was paid and its refund in the month it was refunded', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    const refunds = [
      { amountCent: 90, at: at('2026-02-01 00:00:00') },
      { amountCent: 1900, at: at('2026-03-01 00:00:00') },
    ];
    await put(1, '2025-12-31 23:59:59', { status: 'REFUND_FULL', refunds });
    const sums = async (of: string) => {
      const { collectedCent, refundedCent } = (await month(of)).totals;
      return [collectedCent, refundedCent];
    };
    expect(await sums('2025-12')).toEqual([1990, 0]);
    expect(await sums('2026-01')).toEqual([0, 0]);
    expect(await sums('2026-02')).toEqual([0, 90]);
    expect(await sums('2026-03')).toEqual([0, 1900]);
  });

  it('leaves out what brought nothing, and other channels', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    for (const [cycleNo, status] of ['PROCESSING', 'FAIL_RETRY', 'FAIL', 'CANCELED'].entries()) {
      await put(cycleNo + 1, '2026-02-10 00:00:00', { status, paidAt: null });
    }
    await putOrder(fresh.database, { orderNo: 1002, channelId: '999' });
    await put(1, '2026-02-10 00:00:00', { orderNo: 1002, channelId: '999' });
    await putRefund(fresh.database, { orderNo: 1001, status: 'FAIL' });
    await fresh.database.query(`update refunds set channel_id = $1, refunded_at = '2026-02-10'`, [channelId]);
    expect(await month()).toMatchObject({ lines: [], products: [], totals: { collectedCount: 0, collectedCent: 0 } });
  });

  it('of thousands of lines holds each of them once', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    await fresh.database.query(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
       select 1001, n, $1, 'SUCCESS', now(), timestamptz '2026-02-01' + n % 28 * interval '1 day', n
       from generate_series(1, 3000) n`,
      [channelId],
    );
    const { lines, totals } = await month();
    expect(new Set(lines.map(({ paymentOrderNo }) => paymentOrderNo)).size).toBe(3000);
    expect(lines).toHaveLength(3000);
    expect(totals).toMatchObject({ collectedCount: 3000, collectedCent: (3000 * 3001) / 2 });
  });

  it('says that a month is still running, and what has no result yet', async () => {
    await putAttempt(fresh.database, { orderNo: 1001, status: 'STARTED' });
    await fresh.database.query('update debit_attempts set channel_id = $1', [channelId]);
    expect(await month('2026-03')).toMatchObject({ monthIsOver: false, unsettled: { debits: 1, refunds: 0 } });
    expect(await month('2026-01')).toMatchObject({ monthIsOver: true, unsettled: { debits: 1 } });
    expect(await month('2025-12')).toMatchObject({ monthIsOver: true, unsettled: { debits: 0 } });
  });

  it('of a month to come shows where time travel has been, in the sandbox alone', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    await put(3, '2026-04-30 10:00:00');
    expect(await month('2026-04')).toMatchObject({
      monthIsOver: false,
      lines: [{ kind: 'COLLECTED', time: '2026-04-30 10:00:00' }],
      totals: { collectedCent: 1990, collectedCount: 1 },
    });
    expect(await month('2026-05')).toMatchObject({ monthIsOver: false, lines: [] });
    const inProduction = { ...operator, environment: 'production' } as const;
    await expect(report(inProduction, '2026-04', APP)).rejects.toThrow('2026-04 has not begun yet in Asia/Shanghai');
    expect(await report(inProduction, '2026-03', APP)).toMatchObject({ monthIsOver: false });
  });

  it.each([
    ['a month that is none', '2026-13', APP, 'the month must be one such as 2026-01, not "2026-13"'],
    ['the last month that can be written', '9999-12', APP, 'the month must be one such as'],
    ['a day', '2026-01-01', APP, 'the month must be one such as'],
    ['no month', 'May', APP, 'the month must be one such as'],
    ['a channel that is not there', '2026-02', 'test_nobody', 'there is no channel "test_nobody"'],
  ])('of %s is refused', async (_what, of, appId, message) => {
    await expect(report(operator, of, appId)).rejects.toThrow(message);
  });
});

/** What a channel may call its orders, and what a spreadsheet would make of it. */
const NAMES = [
  '=1+1',
  '+49',
  '-1',
  '@SUM(A1)',
  '\tx',
  '＝1+1',
  'plain',
  'a,b',
  'say "x"',
  'two\nlines',
  '中文',
  "'quoted",
];

it('is a document that keeps every name as it is, or a CSV with a header and one line for each; so of an empty month', async () => {
  const refunds = [{ amountCent: 5, at: at('2026-01-10 12:00:00') }];
  for (const [index, externalOrderNo] of NAMES.entries()) {
    const orderNo = 1001 + index;
    await putOrder(fresh.database, { orderNo, channelId, externalOrderNo });
    await put(1, '2026-01-10 12:00:00', { orderNo, status: 'REFUND_PART', refunds });
  }
  const { lines } = await month('2026-01');
  const names = lines.filter(({ kind }) => kind === 'COLLECTED').map(({ externalOrderNo }) => externalOrderNo);
  expect(names).toEqual(NAMES);
  expect(await month('2025-01')).toMatchObject({ lines: [], products: [] });
  const csv = async (of: string) => (await reportAs(operator, 'csv', of, APP)).split('\r\n');
  expect((await csv('2026-01')).slice(0, 3)).toEqual([
    'kind,time,paymentOrderNo,refundNo,externalOrderNo,productCode,settlementMode,cycleNo,amountCent,currency',
    "COLLECTED,2026-01-10 12:00:00,10010001,,'=1+1,MONTHLY,SVC_DEDUCT,1,1990,CNY",
    "REFUNDED,2026-01-10 12:00:00,10010001,R1001000101,'=1+1,MONTHLY,SVC_DEDUCT,1,5,CNY",
  ]);
  expect(await csv('2025-01')).toHaveLength(2);
});

it.each([
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\rx', `"'\rx"`],
  ['\nx', `"'\nx"`],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠x', "'＠x"],
  ['=1,"2"', `"'=1,""2"""`],
  ['a=1', 'a=1'],
  ['a,b', '"a,b"'],
  // As it always was: reports have a hash.
  ['a;b', 'a;b'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ["'quoted", "'quoted"],
  [1990, '1990'],
  [null, ''],
  ['', ''],
])('a CSV report has %j as %j', (value, text) => {
  expect(csvField(value)).toBe(text);
});
