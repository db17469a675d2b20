import { parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeSettlementMonth, showSettlementMonth } from '../../src/operator/books/settlement-months.js';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { addSums, type Sums, subtractSums, ZERO_SUMS } from '../../src/settlement/sums.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';
import { putOrder, putPayment, report } from './support.js';

const fresh = ofFile(freshDatabase);
let operator: OperatorWithClock;
let channelId: string;
const APP = 'test_one';
const at = (time: string) => parseTime(time) ?? Number.NaN;
const clock = manualClock(at('2026-06-15 12:00:00'));
beforeAll(async () => {
  operator = { ...operatorOn(fresh.database), clock };
  ({ channelId } = await createChannel(operator, { name: 'One', appId: APP }));
  await fresh.database.query(`update channels set created_at = timestamptz '2026-01-01 00:00:00+08'`);
});
beforeEach(() => fresh.database.query('truncate orders, payments, refunds, closed_months'));

const onlySums = (sums: Sums): Sums => addSums(sums, ZERO_SUMS);

describe('a report of a channel', () => {
  it('of a closed month has its totals as they were, all its lines, and what the lines have more', async () => {
    await putOrder(fresh.database, { orderNo: 1001, channelId });
    const put = (cycleNo: number, paidAt: string) =>
      putPayment(fresh.database, {
        ...{ orderNo: 1001, cycleNo, channelId, amountCent: 100, status: 'SUCCESS', paidAt: at(paidAt) },
      });
    await put(1, '2026-01-10 00:00:00');
    await closeSettlementMonth(operator, { month: '2026-01' });
    const closed = await report(operator, '2026-01', APP);
    expect(closed).toMatchObject({ status: 'CLOSED', closedBy: 'test:ann', sinceClosed: ZERO_SUMS, later: ZERO_SUMS });
    await put(2, '2026-01-11 00:00:00');
    const changed = await report(operator, '2026-01', APP);
    expect(changed).toEqual({
      ...closed,
      lines: [...closed.lines, expect.objectContaining({ cycleNo: 2 })],
      sinceClosed: { ...ZERO_SUMS, collectedCent: 100, collectedCount: 1 },
    });
    expect(await report(operator, '2026-02', APP)).toMatchObject({
      status: 'OPEN',
      totals: ZERO_SUMS,
      later: { collectedCent: 100, collectedCount: 1 },
    });
    expect((await report(operator, '2026-03', APP)).later).toEqual(ZERO_SUMS);
  });

  it('of a month that was closed before the channel was there has nothing', async () => {
    await closeSettlementMonth(operator, { month: '2026-01' });
    await createChannel(operator, { name: 'New', appId: 'test_new' });
    expect(await report(operator, '2026-01', 'test_new')).toMatchObject({ status: 'CLOSED', totals: ZERO_SUMS });
    expect((await showSettlementMonth(operator, { month: '2026-01' })).channels).toEqual([]);
  });
});

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

it('whatever comes between which closings: each cent is in exactly one month, and closed months stay', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.nat({ max: 5 }), async (steps, early) => {
      await fresh.database.query('truncate orders, payments, refunds, closed_months');
      // A month that the release before closed while earlier ones were open; 5 is none.
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
        // A report of the channel says the same.
        const { lines: _, totals: ofReport, later, sinceClosed } = await report(operator, month, APP);
        expect(ofReport).toEqual(onlySums(totals));
        expect(later).toEqual(channels.find(({ appId }) => appId === APP)?.later ?? ZERO_SUMS);
        if (!closed.has(month)) expect(sinceClosed).toEqual(ZERO_SUMS);
      }
      // The last month stays open, or what came after it was closed stands in June.
      const june = await showSettlementMonth(operator, { month: '2026-06' });
      sum = june.channels.reduce((all, { later }) => addSums(all, later), sum);
      expect(subtractSums(sum, expected)).toEqual(ZERO_SUMS);
    }),
    { numRuns: 25 },
  );
});
