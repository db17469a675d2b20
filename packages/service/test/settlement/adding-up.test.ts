import { parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';
import { type PaymentRow, putOrder, putPayment, report } from './support.js';

const fresh = ofFile(freshDatabase);
let operator: OperatorWithClock;
const channelIds: string[] = [];
const APPS = ['test_one', 'test_two'];
const at = (time: string) => parseTime(time) ?? Number.NaN;

beforeAll(async () => {
  operator = { ...operatorOn(fresh.database), clock: manualClock(at('2028-04-15 12:00:00')) };
  for (const appId of APPS) channelIds.push((await createChannel(operator, { name: appId, appId })).channelId);
});

/** The months of the test data, with a leap day and a turn of the year. */
const MONTHS = ['2027-12', '2028-01', '2028-02', '2028-03'];
const LAST = ['2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31'];
/** The first and last second of each month, and the limits of the hours that a wrong zone puts into another month. */
const EDGES = [
  ...MONTHS.flatMap((month) => [`${month}-01 00:00:00`, `${month}-01 07:59:59`, `${month}-01 08:00:00`]),
  ...LAST.flatMap((day) => [`${day} 15:59:59`, `${day} 16:00:00`, `${day} 23:59:59`]),
].map(at);
const moment = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.integer({ min: at('2027-12-01 00:00:00') / 1000, max: at('2028-03-31 23:59:59') / 1000 }).map((s) => s * 1000),
);

const refund = fc.record({ share: fc.integer({ min: 1, max: 100 }), at: moment });
const period = fc.record({
  channel: fc.integer({ min: 0, max: 1 }),
  mode: fc.constantFrom<'SVC_DEDUCT' | 'CHANNEL_COLLECT'>('SVC_DEDUCT', 'CHANNEL_COLLECT'),
  productCode: fc.constantFrom('MONTHLY', 'DAILY'),
  amountCent: fc.integer({ min: 1, max: 10_000_000 }),
  paidAt: moment,
  ended: fc.constantFrom('PAID', 'PAID', 'PAID', 'FAIL', 'PROCESSING'),
  refunds: fc.array(refund, { maxLength: 3 }),
});

/** Returns a stored payment. Its refunds never exceed its amount, and in mode B it has none. */
function rowOf(given: typeof period extends fc.Arbitrary<infer T> ? T : never, index: number): PaymentRow {
  const base = {
    orderNo: 1001 + index,
    cycleNo: 1,
    channelId: channelIds[given.channel] ?? '',
    amountCent: given.amountCent,
  };
  if (given.mode === 'CHANNEL_COLLECT') return { ...base, status: 'BILLED', paidAt: given.paidAt };
  if (given.ended !== 'PAID') return { ...base, status: given.ended, paidAt: null };
  const refunds: { amountCent: number; at: number }[] = [];
  let left = given.amountCent;
  for (const { share, at: when } of given.refunds) {
    const amountCent = Math.min(left, Math.ceil((given.amountCent * share) / 100));
    if (amountCent === 0) break;
    left -= amountCent;
    refunds.push({ amountCent, at: when });
  }
  const status = refunds.length === 0 ? 'SUCCESS' : left === 0 ? 'REFUND_FULL' : 'REFUND_PART';
  return { ...base, status, paidAt: given.paidAt, refunds };
}

it('any months: lines, products, totals and the payments themselves add up to the cent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(period, { maxLength: 12 }), async (periods) => {
      await fresh.database.query('truncate orders, payments, refunds');
      const rows = periods.map(rowOf);
      for (const [index, row] of rows.entries()) {
        const { mode = 'SVC_DEDUCT', productCode = '' } = periods[index] ?? {};
        await putOrder(fresh.database, { orderNo: row.orderNo, channelId: row.channelId, mode, productCode });
        await putPayment(fresh.database, row);
      }
      for (const [index, appId] of APPS.entries()) {
        const reports = await Promise.all(MONTHS.map((month) => report(operator, month, appId)));
        const sum = (name: 'collectedCent' | 'refundedCent' | 'billedCent') =>
          reports.reduce((total, { totals }) => total + totals[name], 0);
        // The sums over all months equal the sums of the stored payments.
        const [payments] = await fresh.database.query<object>(
          `select coalesce(sum(amount_cent) filter (where status in ('SUCCESS', 'REFUND_PART', 'REFUND_FULL')), 0)::bigint
               as collected,
             coalesce(sum(refund_amount_cent), 0)::bigint as refunded,
             coalesce(sum(amount_cent) filter (where status = 'BILLED'), 0)::bigint as billed
           from payments where channel_id = $1`,
          [channelIds[index]],
        );
        expect({ collected: sum('collectedCent'), refunded: sum('refundedCent'), billed: sum('billedCent') }).toEqual(
          payments,
        );
        for (const { month, lines, products, totals } of reports) {
          // Each line belongs to its month by the local time of Asia/Shanghai.
          expect(lines.every(({ time }) => time.startsWith(month))).toBe(true);
          for (const name of ['collected', 'refunded', 'billed'] as const) {
            const of = lines.filter(({ kind }) => kind === name.toUpperCase());
            const cents = of.reduce((total, { amountCent }) => total + amountCent, 0);
            expect([totals[`${name}Cent`], totals[`${name}Count`]]).toEqual([cents, of.length]);
            expect(products.reduce((total, one) => total + one[`${name}Cent`], 0)).toBe(cents);
          }
          for (const { productCode, settlementMode, collectedCent, billedCent } of products) {
            const own = lines.filter((one) => one.productCode === productCode && one.settlementMode === settlementMode);
            const taken = own.filter(({ kind }) => kind !== 'REFUNDED');
            expect(collectedCent + billedCent).toBe(taken.reduce((total, { amountCent }) => total + amountCent, 0));
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
