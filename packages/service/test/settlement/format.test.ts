import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { csvField } from '../../src/platform/csv/csv-field.js';
import { operatorOn } from '../operator/support.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';
import { putOrder, putPayment, report, reportAs } from './support.js';

const APP = 'test_one';
const PAID = Date.UTC(2026, 0, 10, 4, 0, 0);
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

let fresh: FreshDatabase;
let operator: OperatorWithClock;
beforeAll(async () => {
  fresh = await freshDatabase();
  operator = { ...operatorOn(fresh.database), clock: manualClock() };
  const { channelId } = await createChannel(operator, { name: 'One', appId: APP });
  for (const [index, externalOrderNo] of NAMES.entries()) {
    const orderNo = 1001 + index;
    await putOrder(fresh.database, { orderNo, channelId, externalOrderNo });
    const payment = { orderNo, cycleNo: 1, channelId, amountCent: 1990, status: 'REFUND_PART', paidAt: PAID };
    await putPayment(fresh.database, { ...payment, refunds: [{ amountCent: 5, at: PAID }] });
  }
});
afterAll(() => fresh.close());

describe('as CSV', () => {
  it('has a header and one line for each line, and nothing else', async () => {
    const [header, first, second] = (await reportAs(operator, 'csv', '2026-01', APP)).split('\r\n');
    expect(header).toBe(
      'kind,time,paymentOrderNo,refundNo,externalOrderNo,productCode,settlementMode,cycleNo,amountCent,currency',
    );
    expect(first).toBe("COLLECTED,2026-01-10 12:00:00,10010001,,'=1+1,MONTHLY,SVC_DEDUCT,1,1990,CNY");
    expect(second).toBe("REFUNDED,2026-01-10 12:00:00,10010001,R1001000101,'=1+1,MONTHLY,SVC_DEDUCT,1,5,CNY");
  });

  it('of an empty month is the header', async () => {
    expect((await reportAs(operator, 'csv', '2025-01', APP)).split('\r\n')).toHaveLength(2);
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
  ])('writes %j as %j', (value, text) => {
    expect(csvField(value)).toBe(text);
  });
});

describe('as JSON', () => {
  it('is one document that keeps every name as it is', async () => {
    const { lines } = await report(operator, '2026-01', APP);
    const names = lines.filter(({ kind }) => kind === 'COLLECTED').map(({ externalOrderNo }) => externalOrderNo);
    expect(names).toEqual(NAMES);
  });

  it('of an empty month is a document too', async () => {
    expect(await report(operator, '2025-01', APP)).toMatchObject({ lines: [], products: [] });
  });
});
