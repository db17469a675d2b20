import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { debitOf, questionOf, startWorld, until } from './support/world.js';

const CALLERS = 64;
const SENT = 600;
const NUMBERS = 450;
const POOL = 8;
/** The timeout of the test. It is long, because only a hang should fail the test, not a busy machine. */
const LIMIT_MS = 600_000;
/** How long the institution takes for a debit. */
const ANSWER_MS = 20;

it(
  '64 callers of two processes, with repeats: each number is paid once, none is lost, connections are bounded',
  async () => {
    const world = await startWorld({ pool: POOL });
    const { institution, ask, query, schema } = world;
    const processes = [world.bridge, await world.start()];
    let most = 0;
    const debit = institution.debit.bind(institution);
    institution.debit = async (asked) => {
      await delay(ANSWER_MS);
      if (institution.calls.length % 50 === 0) {
        const [row] = await query(
          `select count(*)::integer as used from pg_stat_activity
         where application_name = 'bridge' and query like '%${schema}%'`,
        );
        most = Math.max(most, Number(row?.['used']));
      }
      return debit(asked);
    };

    const unknown = new Set<string>();
    let next = 0;
    const call = async () => {
      for (let index = next++; index < SENT; index = next++) {
        // Every fourth request repeats a number that another caller has in flight or has just finished.
        const attemptNo = `D${index % 4 === 3 ? Math.max(0, index - 1 - (index % 8) * 4) : index}`;
        let { http, fields } = await ask('debit', debitOf(attemptNo), processes[index % 2]);
        // On a busy machine the book may have no free connection in time. Retries, as the service would.
        while (http === 500) ({ http, fields } = await ask('debit', debitOf(attemptNo), processes[index % 2]));
        expect({ http, attemptNo: fields['attemptNo'] }).toEqual({ http: 200, attemptNo });
        expect(['SUCCESS', 'PENDING']).toContain(fields['status']);
        if (fields['status'] === 'PENDING') unknown.add(attemptNo);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    for (const attemptNo of unknown) {
      await until(attemptNo, async () => {
        const { status } = (await ask('debit-query', questionOf(attemptNo))).fields;
        // On a busy machine the deadline may pass before the institution is called. Resends, as the service would.
        if (status === 'NOT_FOUND') await ask('debit', debitOf(attemptNo));
        return status === 'SUCCESS';
      });
    }
    const faults = world.log().match(/^.*"msg":"fault".*$/gm) ?? [];
    expect(faults.filter((line) => !/timeout/.test(line))).toEqual([]);
    // The institution would pay a number once even if it were called twice, so the test also counts the calls.
    expect(institution.calls.filter((call) => call.startsWith('debit '))).toHaveLength(NUMBERS);
    expect(institution.payments).toHaveLength(NUMBERS);
    expect(new Set(institution.payments.map(({ attemptNo }) => attemptNo)).size).toBe(NUMBERS);
    expect(await query(`select state, count(*)::integer as many from ${schema}.debits group by state`)).toEqual([
      { state: 'SETTLED', many: NUMBERS },
    ]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2 * POOL);
  },
  LIMIT_MS,
);
