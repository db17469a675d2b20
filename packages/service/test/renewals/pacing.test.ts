import { beforeEach, describe, expect, it } from 'vitest';
import { listOpenPaymentChannels } from '../../src/catalog/payment-channels/pace-sql.js';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import { gate } from '../agreements/support.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { copyOrder, paid } from '../orders/support.js';
import { until } from '../support/processes.js';
import { created, engineNode, engineOfFile } from './support.js';

/**
 * Tests the limit on debits per second and the hours of the day in which debits are allowed. Both apply to all nodes
 * together, by the database's clock.
 */

const { on, sql } = stageOfFile();
const nodes = [engineOfFile(on), engineOfFile(on)] as const;

it('a slow institution: no debit is started before there is a slot for it, because it could become too late to send', async () => {
  await copyOrder(on.service.fresh.database, await created(on), 200);
  on.institution.reset();
  let moment = Date.now();
  const [first, second] = [gate(), gate()];
  const slow = engineNode(on, { clock: { now: () => moment }, debitDeadlineMs: 60_000 });
  on.institution.onDebit = async (request) => {
    await (on.institution.debits.length > 64 ? second : first).stand();
    return paid(request);
  };
  const done = renewDueOrders(slow.deps, { code: 'MOCKPAY', debitsPerSecond: null });
  const there = (count: number) => until('debits there', async () => on.institution.debits.length === count);
  await there(64);
  moment += 1_500;
  first.open();
  await there(128);
  const open = () => sql(`select from debit_attempts where status = 'STARTED'`);
  await until('only those that are there', async () => (await open()).length === 64);
  second.open();
  await done;
  await slow.close();
});

describe('debits per second', () => {
  const PER_SECOND = 20;
  beforeEach(async () => {
    await sql('update orders set next_due_at = null');
    await sql('delete from debit_paces');
    await copyOrder(on.service.fresh.database, await created(on), 200);
    on.institution.reset();
  });

  /**
   * Runs `count` rounds on both nodes concurrently. Returns the number of debits made, and the number of debits that
   * the elapsed time allows.
   */
  async function rounds(count: number): Promise<{ debited: number; allowed: number }> {
    const seconds = async () =>
      (await sql<{ at: number }>('select extract(epoch from now())::float8 as at'))[0]?.at ?? 0;
    const before = await seconds();
    for (let round = 0; round < count; round += 1) {
      await Promise.all(nodes.map((node) => node.renewOnce(PER_SECOND)));
    }
    // Allows the debits of one more second, because nodes may make up for one second of idle time.
    const allowed = PER_SECOND * (1 + (await seconds()) - before);
    expect(new Set(on.institution.debits.map(({ attemptNo }) => attemptNo)).size).toBe(on.institution.debits.length);
    return { debited: on.institution.debits.length, allowed };
  }

  it('two nodes keep the pace together, however often they run, also after a long pause', async () => {
    for (const count of [10, 1]) {
      const { debited, allowed } = await rounds(count);
      expect(debited).toBeGreaterThanOrEqual(PER_SECOND);
      expect(debited).toBeLessThanOrEqual(allowed);
      await sql(`update debit_paces set used_up_to = now() - interval '1 hour'`);
      on.institution.reset();
    }
  });

  it('nothing is leased while the pace is used up, and nothing is lost by waiting', async () => {
    await rounds(1);
    await sql(`update debit_paces set used_up_to = now() + interval '1 hour'`);
    on.institution.reset();
    expect((await rounds(3)).debited).toBe(0);
    expect(await sql(`select from debit_attempts where status = 'STARTED'`)).toEqual([]);
    const [left] = await sql<{ n: number }>('select count(*) as n from orders where next_due_at is not null');
    const [once] = await sql<{ n: number }>('select count(*) as n from debit_attempts where cycle_no > 1');
    expect(left?.n).toBeGreaterThan(0);
    await sql(`update debit_paces set used_up_to = now() - interval '1 s'`);
    expect((await rounds(1)).debited).toBeGreaterThanOrEqual(PER_SECOND);
    const [more] = await sql<{ n: number }>('select count(*) as n from debit_attempts where cycle_no > 1');
    expect(more?.n).toBe((once?.n ?? 0) + on.institution.debits.length);
  });

  it('a lease that is rolled back uses no pace', async () => {
    const [node] = nodes;
    const broken = engineNode(on, {
      database: {
        ...node.deps.database,
        transaction: (work) =>
          node.deps.database.transaction(async (tx) => {
            await work(tx);
            throw new Error('the connection broke before the commit');
          }),
        close: async () => undefined,
      },
    });
    await expect(broken.renewOnce(PER_SECOND)).rejects.toThrow('before the commit');
    await broken.close();
    expect(on.institution.debits).toEqual([]);
    expect((await rounds(1)).debited).toBeGreaterThanOrEqual(PER_SECOND);
  });
});

describe('hours of the day', () => {
  it.each([
    [22, 6, '22:00:00', true],
    [22, 6, '21:59:59', false],
    [22, 6, '00:00:00', true],
    [22, 6, '05:59:59', true],
    [22, 6, '06:00:00', false],
    [9, 24, '23:59:59', true],
    [9, 24, '08:59:59', false],
    [0, 24, '12:00:00', true],
  ])('%i to %i at %s of Asia/Shanghai: %s', async (from, to, time, expected) => {
    const open = await on.service.fresh.database.transaction(async (tx) => {
      await tx.query(`update payment_channels set debit_hour_from = $1, debit_hour_to = $2 where code = 'MOCKPAY'`, [
        from,
        to,
      ]);
      // Replaces now() by a function of the same name in a schema that is first in the search path.
      await tx.query('create schema if not exists at_another_time');
      await tx.query(
        `create or replace function at_another_time.now() returns timestamptz language sql
         as $$ select ('2026-03-20 ${time}')::timestamptz $$`,
      );
      await tx.query('set local search_path = at_another_time, pg_catalog, public');
      return listOpenPaymentChannels(tx);
    });
    expect(open.some(({ code }) => code === 'MOCKPAY')).toBe(expected);
    // A payment channel without hours is always open.
    expect(open.map(({ code }) => code)).toContain('MOCKBANK');
  });
});
