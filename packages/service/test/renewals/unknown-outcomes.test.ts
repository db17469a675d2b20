import { beforeEach, describe, expect, it } from 'vitest';
import { RENEWAL_LEASE_SECONDS } from '../../src/subscriptions/domain/payments/debit-policy.js';
import { START_OF_DUE_ORDERS } from '../../src/subscriptions/store/orders/due-orders-sql.js';
import { startRenewals } from '../../src/subscriptions/store/orders/start-renewals-sql.js';
import { leaseAttemptsToAsk } from '../../src/subscriptions/store/payments/attempts-sql.js';
import { gate } from '../agreements/support.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { alerts, paid } from '../orders/support.js';
import { until } from '../support/processes.js';
import { attemptNoOf, created, engineNode, engineOfFile, unknown } from './support.js';

/** Tests renewals with an unknown outcome: when they are queried, and that no other attempt replaces them. */

const { on } = stageOfFile();
const node = engineOfFile(on);
const START = Date.UTC(2026, 0, 31, 4, 0, 0);
beforeEach(async () => {
  on.service.clock.set(START);
  await on.askPending();
  await sql('update orders set next_due_at = null');
  await sql('delete from alerts');
  on.institution.reset();
});

const sql = <Row>(text: string, values: readonly unknown[] = []) => node.deps.database.query<Row>(text, values);
const statusOf = async (orderNo: string) =>
  (await on.channel.call('payments/query', { paymentOrderNo: `${orderNo}0002` })).data.paymentStatus;

/** Expects that the attempt is queried `seconds` seconds after `work`, by the database's own clock. */
async function expectAskedIn(seconds: number, orderNo: string, work: () => Promise<unknown>): Promise<void> {
  const now = async () => (await sql<{ now: number }>('select extract(epoch from now())::float8 as now'))[0]?.now ?? 0;
  const before = await now();
  await work();
  const after = await now();
  const [row] = await sql<{ at: number }>(
    `select extract(epoch from ask_at)::float8 as at from debit_attempts where order_no = $1 and status = 'STARTED'`,
    [orderNo],
  );
  const saidAt = (row?.at ?? Number.NaN) - seconds;
  expect(saidAt).toBeGreaterThanOrEqual(before);
  expect(saidAt).toBeLessThanOrEqual(after);
}

const pendingUntil = (seconds: number) => async () =>
  ({ kind: 'pending', askAt: on.service.clock.now() + seconds * 1000 }) as const;

describe('a renewal', () => {
  it.each<[string, () => Promise<typeof unknown>]>([
    ['unknown', async () => unknown],
    ['pending', async () => ({ kind: 'pending' })],
    ['not answered in time', () => new Promise(() => undefined)],
    ['an error', () => Promise.reject(new Error('the line is dead'))],
  ])('%s: queried after 10 s, then 30 s, 1 min, 5 min, 15 min, hourly', async (_what, answer) => {
    const orderNo = await created(on);
    on.institution.onDebit = answer;
    await expectAskedIn(10, orderNo, () => node.renewOnce());
    on.institution.onQuery = async () => unknown;
    for (const seconds of [30, 60, 300, 900, 3600, 3600]) {
      await expectAskedIn(seconds, orderNo, on.askPending);
    }
    // While the outcome is unknown, nothing else is due: neither a retry nor the next period.
    expect(await node.renewOnce()).toBe(0);
    expect(await statusOf(orderNo)).toBe('PROCESSING');
    expect(on.institution.debits.map(({ attemptNo }) => attemptNo)).toEqual([
      attemptNoOf(orderNo, 1, 1),
      attemptNoOf(orderNo, 2, 1),
    ]);
    on.institution.reset();
    await on.askPending();
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(on.institution.debits).toEqual([]);
  });

  it.each([
    [45, 45, 45],
    [3600, 3600, 3600],
    [3601, 3600, 3600],
    [30 * 86_400, 3600, 3600],
    // If the institution names a time that has passed, the waits are the same as if it named no time.
    [0, 10, 30],
    [-5, 10, 30],
  ])('pending until %i s from now: queried after %i s, then %i s', async (named, first, second) => {
    const orderNo = await created(on);
    on.institution.onDebit = pendingUntil(named);
    await expectAskedIn(first, orderNo, () => node.renewOnce());
    on.institution.onQuery = pendingUntil(named);
    await expectAskedIn(second, orderNo, on.askPending);
  });
});

describe('a node that dies', () => {
  const leaseDue = () =>
    startRenewals(
      node.deps.database,
      'MOCKPAY',
      { kind: 'everything', after: START_OF_DUE_ORDERS },
      10,
      RENEWAL_LEASE_SECONDS,
    );

  it('after its lease began: another queries 18 s later, finds nothing sent, and sends the same number', async () => {
    const orderNo = await created(on);
    await expectAskedIn(18, orderNo, leaseDue);
    expect(await on.askDue()).toBe(0);
    on.institution.reset();
    on.institution.onQuery = async () => ({ kind: 'not-found' });
    await on.askPending();
    expect(on.institution.debits.map(({ attemptNo }) => attemptNo)).toEqual([attemptNoOf(orderNo, 2, 1)]);
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(await sql('select from debit_attempts where order_no = $1', [orderNo])).toHaveLength(2);
  });

  it('after its lease began, and the order is unsubscribed: it is not sent, and FAIL once that is certain', async () => {
    const orderNo = await created(on);
    await leaseDue();
    on.institution.reset();
    on.institution.onQuery = async () => ({ kind: 'not-found' });
    expect((await on.channel.call('orders/unsubscribe', { orderNo })).code).toBe('0');
    await on.askPending();
    // The attempt stays open, because the bridge's protocol allows a request to arrive up to ten minutes late.
    expect(await statusOf(orderNo)).toBe('PROCESSING');
    on.service.clock.advance(11 * 60_000);
    await on.askPending();
    expect(await statusOf(orderNo)).toBe('FAIL');
    expect(on.institution.debits).toEqual([]);
    expect(on.institution.queries).toHaveLength(2);
  });

  it('during a query: another queries 18 s later', async () => {
    const orderNo = await created(on);
    await leaseDue();
    const held = gate();
    on.institution.onQuery = async () => {
      await held.stand();
      return unknown;
    };
    let asking: Promise<unknown> = Promise.resolve();
    await expectAskedIn(18, orderNo, async () => {
      asking = on.askPending();
      await held.reached;
    });
    expect(await leaseAttemptsToAsk(node.deps.database, 10, 1)).toEqual([]);
    held.open();
    await asking;
  });

  it('while a query of its successor hangs: debits that become due meanwhile are queried too', async () => {
    const hanging = await created(on);
    await leaseDue();
    const other = await created(on);
    await leaseDue();
    const held = gate();
    on.institution.onQuery = async (request) => {
      if (request.orderNo !== hanging) return paid(request);
      await held.stand();
      return unknown;
    };
    await sql('update debit_attempts set ask_at = now() where order_no = $1 and cycle_no = 2', [hanging]);
    const asking = on.askDue();
    await held.reached;
    await sql('update debit_attempts set ask_at = now() where order_no = $1 and cycle_no = 2', [other]);
    await until('the answer about the other', async () => (await statusOf(other)) === 'SUCCESS');
    expect(await statusOf(hanging)).toBe('PROCESSING');
    held.open();
    expect(await asking).toBe(2);
  });

  it('or is blocked for longer than its lease: it sends nothing more', async () => {
    const orderNo = await created(on);
    on.institution.reset();
    const { clock } = on.service;
    const late = engineNode(on, {
      channels: {
        ...node.deps.channels,
        async getById(channelId) {
          clock.advance(8_001);
          return node.deps.channels.getById(channelId);
        },
      },
    });
    await expectAskedIn(18, orderNo, () => late.renewOnce());
    expect(on.institution.debits).toEqual([]);
    await late.close();
  });
});

describe('an outcome that is unknown for a day', () => {
  const DAY = 24 * 3_600_000;
  /**
   * Creates an order with an open attempt. The database's clock sets the start of the attempt, and the service's clock
   * decides how old it is.
   */
  const open = async () => {
    const orderNo = await created(on);
    on.institution.onDebit = async () => unknown;
    on.institution.onQuery = async () => unknown;
    await node.renewOnce();
    const [row] = await sql<{ at: number }>(
      'select (extract(epoch from started_at) * 1000)::bigint as at from debit_attempts where order_no = $1 and cycle_no = 2',
      [orderNo],
    );
    return { orderNo, startedAt: row?.at ?? Number.NaN };
  };

  it('raises one alert after a day, and no more with later queries', async () => {
    const { orderNo, startedAt } = await open();
    const subject = attemptNoOf(orderNo, 2, 1);
    on.service.clock.set(startedAt + DAY);
    await on.askPending();
    expect(await alerts(node.deps.database)).toEqual([]);
    on.service.clock.advance(1);
    await on.askPending();
    const [raised] = await sql('select * from alerts');
    expect(raised).toMatchObject({
      kind: 'debit-unknown-for-a-day',
      subject,
      detail: 'the result is still unknown',
      seen: 1,
    });
    on.service.clock.advance(3_600_000);
    await on.askPending();
    expect(await sql('select * from alerts')).toEqual([raised]);
    // The alert stays acknowledged while the queries continue.
    await sql(`update alerts set acknowledged_by = 'me', acknowledged_at = now()`);
    await on.askPending();
    expect(await sql('select acknowledged_by from alerts')).toEqual([{ acknowledged_by: 'me' }]);
  });

  it('also if it cannot be queried', async () => {
    const { orderNo, startedAt } = await open();
    on.service.clock.set(startedAt + DAY + 1);
    await sql(
      `update agreements set institution_no = null where agreement_id = (select agreement_id from orders where order_no = $1)`,
      [orderNo],
    );
    await on.askPending();
    expect(await alerts(node.deps.database)).toEqual([
      {
        kind: 'debit-unknown-for-a-day',
        subject: attemptNoOf(orderNo, 2, 1),
        detail: 'the institution cannot be queried',
      },
    ]);
    await sql(`update debit_attempts set ask_at = null, status = 'FAIL' where order_no = $1 and cycle_no = 2`, [
      orderNo,
    ]);
  });
});
