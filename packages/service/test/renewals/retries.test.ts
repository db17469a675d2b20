import { beforeEach, describe, expect, it } from 'vitest';
import { stageOfFile } from '../orders/stage-of-file.js';
import { dailyProduct, toldAbout } from '../orders/support.js';
import { attemptNoOf, clockedEngineOfFile, created, declined } from './support.js';

/** Tests the retries of declined renewals, by a clock that the test controls. */

const { on } = stageOfFile();
const START = Date.UTC(2026, 0, 31, 4, 0, 0);
const node = clockedEngineOfFile(on, START);
beforeEach(async () => {
  on.service.clock.set(START);
  // Removes the due times of other tests' orders, so that they are not due.
  await on.service.fresh.database.query('update orders set next_due_at = null');
});

/** Queries the order with a new token, because the clock may have moved beyond the lifetime of the old token. */
const found = async (orderNo: string) => {
  const token = await on.channel.getToken();
  return (await on.channel.call('orders/query', { orderNo }, { token })).data;
};
/** Sets the clocks of the service and the database. */
const at = async (text: string) => {
  const time = Date.parse(`${text.replace(' ', 'T')}+08:00`);
  on.service.clock.set(time);
  await node.clock.set(time);
};
const sent = () => on.institution.debits.map(({ attemptNo }) => attemptNo);

/** Runs the engine at `time` and expects one debit. Returns the period's status and the next planned time. */
async function tried(orderNo: string, time: string): Promise<[status: string, next: string | null]> {
  await at(time);
  expect(await node.renewOnce()).toBe(1);
  const order = await found(orderNo);
  const period = order.paymentRecords.findLast((one: { paymentStatus: string }) => one.paymentStatus !== 'WAIT');
  return [period.paymentStatus, order.nextPayTime];
}

describe('a renewal that was PENDING and that a query finds declined', () => {
  /** Creates an order whose debit is pending on 28 February at 12:00. A query at 12:30 finds it declined. */
  async function declinedLater(decline: 'retryable' | 'final') {
    const orderNo = await created(on);
    on.institution.reset();
    on.institution.onDebit = async () => ({ kind: 'pending' });
    expect(await tried(orderNo, '2026-02-28 12:00:00')).toEqual(['PROCESSING', '2026-03-31 12:00:00']);
    on.institution.onQuery = async () => declined(decline);
    await at('2026-02-28 12:30:00');
    expect(await on.askPending()).toBe(1);
    return orderNo;
  }

  it('retryable: its retry is planned from the answer, and has another number', async () => {
    const orderNo = await declinedLater('retryable');
    expect(await found(orderNo)).toMatchObject({ orderStatus: 'ACTIVE', nextPayTime: '2026-03-01 12:30:00' });
    await at('2026-03-01 12:29:59');
    expect(await node.renewOnce()).toBe(0);
    on.institution.onDebit = async () => declined('retryable');
    expect(await tried(orderNo, '2026-03-01 12:30:00')).toEqual(['FAIL_RETRY', '2026-03-04 12:30:00']);
    expect(sent()).toEqual([attemptNoOf(orderNo, 2, 1), attemptNoOf(orderNo, 2, 2)]);
    expect((await toldAbout(node.deps.database, orderNo)).slice(2)).toEqual(['FAIL_RETRY', 'FAIL_RETRY']);
  });

  it('final: the period has failed, and the next one is debited as planned', async () => {
    const orderNo = await declinedLater('final');
    expect(await found(orderNo)).toMatchObject({ orderStatus: 'ACTIVE', nextPayTime: '2026-03-31 12:00:00' });
    expect((await toldAbout(node.deps.database, orderNo)).slice(2)).toEqual(['FAIL']);
    await at('2026-03-31 11:59:59');
    expect(await node.renewOnce()).toBe(0);
  });
});

describe('a retryable decline', () => {
  // Monthly: diaries/failing-card.test.ts.
  it('daily: after 1, 3, 6 and 12 hours', async () => {
    const orderNo = await created(on, { productCode: 'TEST_SPU_DAILY_7' });
    on.institution.onDebit = async () => declined('retryable');
    expect(await tried(orderNo, '2026-02-01 12:00:00')).toEqual(['FAIL_RETRY', '2026-02-01 13:00:00']);
    expect(await tried(orderNo, '2026-02-01 13:00:00')).toEqual(['FAIL_RETRY', '2026-02-01 16:00:00']);
    expect(await tried(orderNo, '2026-02-01 16:00:00')).toEqual(['FAIL_RETRY', '2026-02-01 22:00:00']);
    expect(await tried(orderNo, '2026-02-01 22:00:00')).toEqual(['FAIL_RETRY', '2026-02-02 10:00:00']);
    expect(await tried(orderNo, '2026-02-02 10:00:00')).toEqual(['FAIL', '2026-02-02 12:00:00']);
  });

  it('a product without retries: FAIL at once', async () => {
    await dailyProduct(on.service, 'NO_RETRIES', 7);
    await node.deps.database.query(`update products set retry_delays = '{}' where product_code = 'NO_RETRIES'`);
    const orderNo = await created(on, { productCode: 'NO_RETRIES' });
    on.institution.onDebit = async () => declined('retryable');
    expect(await tried(orderNo, '2026-02-01 12:00:00')).toEqual(['FAIL', '2026-02-02 12:00:00']);
  });
});
