import { afterEach, expect, it } from 'vitest';
import type { Database } from '../../src/platform/db/database.js';
import { gate } from '../agreements/support.js';
import { copyOrder, dailyProduct, institution, paid, type Stage, stage, toldAbout } from '../orders/support.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { created } from './support.js';

/** Tests a node with its engine and two institutions. MOCKPAY always works. */
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function scene() {
  const on = await stage();
  closing.push(() => on.close());
  const { database } = on.service.fresh;
  const bank = institution();
  const orderNo = await created(on);
  // Creates more orders than the number of debits that may be in flight at once.
  await copyOrder(database, orderNo, 100, { payment_channel_code: 'MOCKBANK' });
  const paidPeriods = async (code: string) => {
    const [row] = await database.query<{ n: number }>(
      `select count(*) as n from debit_attempts where cycle_no > 1 and status = 'SUCCESS' and payment_channel_code = $1`,
      [code],
    );
    return row?.n ?? 0;
  };
  const start = async () => {
    const gateways = { of: async (code: string) => (code === 'MOCKBANK' ? bank : on.institution) };
    const node = await anotherNode(on.service, { engine: true, gateways });
    closing.push(() => node.close());
  };
  return { on, database, bank, orderNo, paidPeriods, start };
}

/**
 * Returns how many periods of the order are paid. Several of its twelve periods are due, because the database's clock is
 * months ahead of the test clock.
 */
const completed = async (on: Stage, orderNo: string) => {
  const { data } = await on.channel.call('orders/query', { orderNo });
  return data.paymentRecords.filter((one: { paymentStatus: string }) => one.paymentStatus === 'SUCCESS').length;
};

it('one institution hangs: the other’s orders continue, period by period', async () => {
  const { on, database, bank, orderNo, paidPeriods, start } = await scene();
  const held = gate();
  bank.onDebit = async () => {
    await held.stand();
    return { kind: 'unknown' };
  };
  closing.push(async () => held.open());
  await start();
  await held.reached;
  await until('periods of the other', async () => (await completed(on, orderNo)) >= 4);
  expect(await paidPeriods('MOCKBANK')).toBe(0);
  // Only 64 debits wait for the hanging institution. The other orders are not leased and stay due.
  const [hanging] = await database.query<{ n: number }>(
    `select count(*) as n from debit_attempts where payment_channel_code = 'MOCKBANK' and status = 'STARTED'`,
  );
  expect(hanging?.n).toBe(64);
  held.open();
});

it('an institution that answers quickly has at most 64 debits in flight, and as many wait for a slot', async () => {
  const { on, database, bank, orderNo, paidPeriods, start } = await scene();
  await copyOrder(database, await created(on), 200, { payment_channel_code: 'MOCKBANK' });
  const held = gate();
  closing.push(async () => held.open());
  let there = 0;
  let most = 0;
  bank.onDebit = async (request) => {
    there += 1;
    most = Math.max(most, there);
    if (bank.debits.length > 100) await held.stand();
    there -= 1;
    return paid(request);
  };
  await start();
  const open = async () =>
    (
      await database.query(
        `select from debit_attempts where payment_channel_code = 'MOCKBANK' and cycle_no > 1 and status = 'STARTED'`,
      )
    ).length;
  await until('64 there and 64 waiting', async () => there === 64 && (await open()) === 128);
  await until('periods of the other', async () => (await completed(on, orderNo)) >= 4);
  expect([there, await open()]).toEqual([64, 128]);
  held.open();
  await until('all of them', async () => (await paidPeriods('MOCKBANK')) >= 300);
  expect(most).toBe(64);
  expect(new Set(bank.debits.map(({ attemptNo }) => attemptNo)).size).toBe(bank.debits.length);
});

it('outside its hours a payment channel leases nothing; the other’s orders continue', async () => {
  const { on, database, bank, orderNo, paidPeriods, start } = await scene();
  await closeFor(database, 'MOCKBANK');
  await start();
  await until('two periods of the other', async () => (await completed(on, orderNo)) >= 3);
  expect(await paidPeriods('MOCKBANK')).toBe(0);
  expect(bank.debits).toEqual([]);
  expect(await database.query(`select from debit_attempts where payment_channel_code = 'MOCKBANK'`)).toEqual([]);
  await database.query(`update payment_channels set debit_hour_from = null, debit_hour_to = null`);
  await until('its own, once it is open', async () => (await paidPeriods('MOCKBANK')) >= 100);
});

it('outside its hours an order of one period is still completed, because that needs no debit', async () => {
  const on = await stage();
  closing.push(() => on.close());
  await dailyProduct(on.service, 'ONE_DAY', 1);
  const orderNo = await created(on, { productCode: 'ONE_DAY' });
  await closeFor(on.service.fresh.database, 'MOCKPAY');
  const node = await anotherNode(on.service, { engine: true, gateways: { of: async () => on.institution } });
  closing.push(() => node.close());
  const statusOf = async () => (await on.channel.call('orders/query', { orderNo })).data.orderStatus;
  await until('its completion', async () => (await statusOf()) === 'COMPLETED');
  expect(on.institution.debits).toHaveLength(1);
  expect(await toldAbout(on.service.fresh.database, orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'COMPLETED']);
});

/** Sets debit hours that exclude the current hour. */
async function closeFor(database: Database, code: string): Promise<void> {
  await database.query(
    `update payment_channels set debit_hour_from = (extract(hour from now())::integer + 2) % 24,
       debit_hour_to = (extract(hour from now())::integer + 2) % 24 + 1 where code = $1`,
    [code],
  );
}
