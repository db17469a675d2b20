import { parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeSettlementMonth, showSettlementMonth } from '../../src/operator/books/settlement-months.js';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { csvField } from '../../src/platform/csv/csv-field.js';
import { addSums, type Sums, subtractSums, ZERO_SUMS } from '../../src/settlement/sums.js';
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

/** The channel's own number, which passes the check of a card number by chance. */
const CARD_LIKE = '6222020000001239870';

describe('a settlement report', () => {
  it('lists collected, refunded and billed amounts by time, with sums by product and mode', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId, externalOrderNo: CARD_LIKE });
    await putOrder(fresh.database, { orderNo: 1002, channelId, mode: 'CHANNEL_COLLECT', productCode: 'DAILY' });
    await put(1, '2026-02-01 10:00:00', {
      status: 'REFUND_PART',
      refunds: [{ amountCent: 500, at: at('2026-02-28 09:00:00') }],
    });
    await put(2, '2026-02-20 10:00:00');
    await put(3, '2026-02-03 10:00:00', { orderNo: 1002, status: 'BILLED', amountCent: 100 });
    const common = { productCode: 'MONTHLY', settlementMode: 'SVC_DEDUCT', externalOrderNo: CARD_LIKE, refundNo: null };
    const first = { ...common, paymentOrderNo: '10010001', cycleNo: 1 };
    const billed = { productCode: 'DAILY', settlementMode: 'CHANNEL_COLLECT' };
    const billedSums = { billedCent: 100, billedCount: 1 };
    const collectedSums = { collectedCent: 3980, collectedCount: 2, refundedCent: 500, refundedCount: 1 };
    expect(await month()).toEqual({
      ...{ appId: APP, month: '2026-02', currency: 'CNY', monthIsOver: true, unsettled: { debits: 0, refunds: 0 } },
      ...{
        status: 'OPEN',
        closedBy: null,
        closedAt: null,
        fees: null,
        payableCent: null,
        later: ZERO_SUMS,
        sinceClosed: ZERO_SUMS,
      },
      lines: [
        { ...first, kind: 'COLLECTED', time: '2026-02-01 10:00:00', amountCent: 1990 },
        {
          ...{ ...billed, kind: 'BILLED', time: '2026-02-03 10:00:00', paymentOrderNo: '10020003', refundNo: null },
          ...{ externalOrderNo: 'order-1002', cycleNo: 3, amountCent: 100 },
        },
        {
          ...{ ...common, kind: 'COLLECTED', time: '2026-02-20 10:00:00', paymentOrderNo: '10010002' },
          ...{ cycleNo: 2, amountCent: 1990 },
        },
        { ...first, kind: 'REFUNDED', time: '2026-02-28 09:00:00', refundNo: 'R1001000101', amountCent: 500 },
      ],
      products: [
        { ...ZERO_SUMS, ...billed, ...billedSums },
        { ...ZERO_SUMS, productCode: 'MONTHLY', settlementMode: 'SVC_DEDUCT', ...collectedSums },
      ],
      totals: { ...collectedSums, ...billedSums },
    });
  });

  it('covers a month from its first to its last moment in Asia/Shanghai', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    await put(1, '2026-01-31T23:59:59.999+08:00');
    await put(2, '2026-02-01 00:00:00');
    await put(3, '2026-02-28T23:59:59.999+08:00');
    await put(4, '2026-03-01 00:00:00');
    expect((await month()).lines.map(({ cycleNo }) => cycleNo)).toEqual([2, 3]);
    expect((await month('2026-01')).lines.map(({ cycleNo }) => cycleNo)).toEqual([1]);
    expect((await month('2026-03')).lines.map(({ cycleNo }) => cycleNo)).toEqual([4]);
  });

  it('omits unpaid periods and other channels', async () => {
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

  it('contains each of thousands of lines once', async () => {
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

  it('marks a running month, and shows what has no result yet', async () => {
    await putAttempt(fresh.database, { orderNo: 1001, status: 'STARTED' });
    await fresh.database.query('update debit_attempts set channel_id = $1', [channelId]);
    expect(await month('2026-03')).toMatchObject({ monthIsOver: false, unsettled: { debits: 1, refunds: 0 } });
    expect(await month('2026-01')).toMatchObject({ monthIsOver: true, unsettled: { debits: 1 } });
    expect(await month('2025-12')).toMatchObject({ monthIsOver: true, unsettled: { debits: 0 } });
  });

  it('of a future month shows the results of time travel, in the sandbox only', async () => {
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
});

/** Pairs: a value, and its text in a CSV report. A spreadsheet would run or change some of the values. */
const CELLS: readonly [value: string | number | null, text: string][] = [
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
  ['中文', '中文'],
  ['a,b', '"a,b"'],
  // A semicolon is not quoted here, unlike in the files for Excel (spreadsheetLine). A report has a hash, so its
  // format must not change.
  ['a;b', 'a;b'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ["'quoted", "'quoted"],
  [1990, '1990'],
  [null, ''],
  ['', ''],
];
const NAMES = CELLS.flatMap(([value]) => (typeof value === 'string' && value !== '' ? [value] : []));

it('keeps every name unchanged as JSON, and has a header and one line per entry as CSV; also for an empty month', async () => {
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
    'kind,time,paymentOrderNo,refundNo,externalOrderNo,productCode,settlementMode,cycleNo,amount,currency',
    "COLLECTED,2026-01-10 12:00:00,10010001,,'=1+1,MONTHLY,SVC_DEDUCT,1,19.90,CNY",
    "REFUNDED,2026-01-10 12:00:00,10010001,R1001000101,'=1+1,MONTHLY,SVC_DEDUCT,1,0.05,CNY",
  ]);
  expect(await csv('2025-01')).toHaveLength(2);
});

it.each(CELLS)('a CSV report has %j as %j', (value, text) => {
  expect(csvField(value)).toBe(text);
});

/** Returns only the fields that the figures of a closed month have. */
const onlySums = (sums: Sums): Sums => addSums(sums, ZERO_SUMS);

const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05'];

type Step = { readonly close: true } | { readonly month: number; readonly cents: number; readonly kind: string };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant({ close: true } as const),
  fc.record({
    month: fc.integer({ min: 0, max: 4 }),
    cents: fc.integer({ min: 1, max: 10_000 }),
    kind: fc.constantFrom('collected', 'billed', 'refunded'),
  }),
);

it('any closings: each cent is in exactly one month, and closed months do not change', async () => {
  clock.set(at('2026-06-15 12:00:00'));
  await fresh.database.query(`update channels set created_at = timestamptz '2026-01-01 00:00:00+08'`);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.nat({ max: 5 }), async (steps, early) => {
      await fresh.database.query('truncate orders, payments, refunds, closed_months');
      // The previous release has closed the month with the index `early`, while earlier months were open. If `early` is
      // 5, it has closed no month.
      const closed = new Set(MONTHS.slice(early, early + 1));
      await fresh.database.query(
        `insert into closed_months (month, channel_id, figures, closed_by) select unnest($1::text[]), 0, '{"note": null}', 'fay'`,
        [[...closed]],
      );
      let orderNo = 2000;
      let expected = ZERO_SUMS;
      const frozen = new Map<string, unknown>();
      for (const one of steps) {
        if ('close' in one) {
          const month = MONTHS.find((one) => !closed.has(one));
          if (month === undefined) continue;
          frozen.set(month, await closeSettlementMonth(operator, { month }));
          closed.add(month);
          continue;
        }
        orderNo += 1;
        const paidAt = at(`${MONTHS[one.month]}-15 10:00:00`);
        const mode = one.kind === 'billed' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT';
        await putOrder(fresh.database, { orderNo, channelId, mode });
        await putPayment(fresh.database, {
          ...{ orderNo, cycleNo: 1, channelId, amountCent: one.cents, paidAt },
          status: { billed: 'BILLED', collected: 'SUCCESS', refunded: 'REFUND_FULL' }[one.kind] ?? '',
          refunds: one.kind === 'refunded' ? [{ amountCent: one.cents, at: paidAt }] : [],
        });
        const isBilled = one.kind === 'billed';
        expected = addSums(expected, {
          ...(isBilled ? {} : { ...ZERO_SUMS, collectedCent: one.cents, collectedCount: 1 }),
          ...(isBilled ? { ...ZERO_SUMS, billedCent: one.cents, billedCount: 1 } : {}),
          ...(one.kind === 'refunded' ? { refundedCent: one.cents, refundedCount: 1 } : {}),
        } as Sums);
      }
      let sum = ZERO_SUMS;
      for (const month of MONTHS) {
        const shown = await showSettlementMonth(operator, { month });
        if (frozen.has(month)) expect(shown).toEqual(frozen.get(month));
        const { channels, totals } = shown;
        sum = addSums(
          sum,
          channels.reduce((all, { later }) => addSums(all, later), totals),
        );
        // The channel's report has the same figures.
        const { lines: _, totals: ofReport, later, sinceClosed } = await report(operator, month, APP);
        expect(ofReport).toEqual(onlySums(totals));
        expect(later).toEqual(channels.find(({ appId }) => appId === APP)?.later ?? ZERO_SUMS);
        if (!closed.has(month)) expect(sinceClosed).toEqual(ZERO_SUMS);
      }
      // Adds the changes that count in June: they were made after the last of the five months was closed. If that month
      // is still open, there are no such changes.
      const june = await showSettlementMonth(operator, { month: '2026-06' });
      sum = june.channels.reduce((all, { later }) => addSums(all, later), sum);
      expect(subtractSums(sum, expected)).toEqual(ZERO_SUMS);
    }),
    { numRuns: 25 },
  );
});
