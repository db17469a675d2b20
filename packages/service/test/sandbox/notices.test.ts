import { beforeAll, expect, it } from 'vitest';
import { noticeDueOrders } from '../../src/engine/jobs/notices.js';
import { setUpcomingNotices } from '../../src/operator/provisioning/channel-settings.js';
import { noticesOf, toldOf } from '../notices/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { timeMachine } from './support.js';

/** Time travel passes through notices before a debit as through everything else. */

const machine = ofFile(timeMachine);
beforeAll(async () => {
  await want(5);
});

const want = (days: number | null) => setUpcomingNotices(machine.service.operator, { appId: 'test_demo', days });
const told = (orderNo: string) => toldOf(machine.service.fresh.database, orderNo);
const noticed = (orderNo: string) => noticesOf(machine.service.fresh.database, orderNo);

it.each([
  ['SVC_DEDUCT', 'SUCCESS'],
  ['CHANNEL_COLLECT', 'BILLED'],
])('%s, three periods: three notices, each at its own time before its period, and none again', async (mode, status) => {
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

it('what the engine has told is not told again, and a channel that has not asked hears nothing', async () => {
  const orderNo = await machine.collected();
  // By the database's clock it is long due.
  await machine.service.fresh.database.query('update orders set notice_days = null where order_no <> $1', [orderNo]);
  expect(await noticeDueOrders(machine.service.fresh.database)).toBe(1);
  await machine.advance(orderNo, { cycles: 1 });
  expect((await told(orderNo)).filter((line) => line.endsWith('period 2 upcoming'))).toHaveLength(1);
  await want(null);
  const quiet = await machine.deducted();
  await machine.advance(quiet, { cycles: 3 });
  expect(await noticed(quiet)).toEqual([]);
});
