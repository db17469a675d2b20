import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reconcileDays } from '../../src/engine/jobs/reconciliation.js';
import { StatementUnavailable } from '../../src/gateways/bridge/bridge-gateway.js';
import { listReconciliations } from '../../src/operator/books/reconciliation.js';
import { alerts } from '../orders/support.js';
import { at, CODE, deskOfFile, line, NOON, putAttempt } from './support.js';

const on = deskOfFile();
let asked: string[];
beforeAll(async () => {
  const { database } = on.fresh;
  // UNIPAY was created on 29 January. There is no other bridge, and the sandbox has no statements.
  await database.query(`delete from payment_channels where code = 'OTHERPAY'`);
  await database.query(`update payment_channels set created_at = '2026-01-29 18:00:00'`);
});
beforeEach(() => {
  asked = [];
  on.statement = async function* (day) {
    asked.push(day);
    yield* [];
  };
});

const turn = () => reconcileDays({ ...on.operator, database: on.fresh.database, log: pino({ level: 'silent' }) });
const anHourLater = () => on.fresh.database.query(`update job_marks set reached_at = reached_at - interval '1 hour'`);

describe('the job', () => {
  it('waits for 03:00 in Asia/Shanghai, and reconciles each day once', async () => {
    on.clock.set(at('2026-01-30 02:59:59'));
    expect(await turn()).toBe(0);
    expect(asked).toEqual([]);
    on.clock.set(at('2026-01-30 03:00:00'));
    expect(await turn()).toBe(1);
    await anHourLater();
    expect(await turn()).toBe(0);
    expect(asked).toEqual(['2026-01-29']);
    await anHourLater();
    on.clock.set(at('2026-01-31 09:00:00'));
    expect(await turn()).toBe(1);
    expect(asked).toEqual(['2026-01-29', '2026-01-30']);
    expect(await listReconciliations(on.operator)).toMatchObject([
      { day: '2026-01-30', source: 'GATEWAY', runBy: 'engine', runAt: '2026-01-31 09:00:00' },
      { day: '2026-01-29', source: 'GATEWAY', runBy: 'engine', runAt: '2026-01-30 03:00:00' },
    ]);
  });

  it('ignores a mark that a wrong clock has left in the future', async () => {
    on.clock.set(at('2026-01-30 03:00:00'));
    await turn();
    await on.fresh.database.query(`update job_marks set reached_at = now() + interval '4 years'`);
    on.clock.set(at('2026-01-31 03:00:00'));
    expect(await turn()).toBe(1);
  });

  it('is run by one of several nodes', async () => {
    const turns = await Promise.all([turn(), turn(), turn(), turn()]);
    expect(turns.toSorted()).toEqual([0, 0, 0, 2]);
    expect(asked).toEqual(['2026-01-29', '2026-01-30']);
  });

  it('catches up on missed days, for a week', async () => {
    on.clock.set(at('2026-02-20 03:00:00'));
    expect(await turn()).toBe(7);
    expect(asked.at(0)).toBe('2026-02-13');
    expect(asked.at(-1)).toBe('2026-02-19');
  });

  it('repeats a day each morning while a difference is open', async () => {
    on.clock.set(at('2026-01-31 03:00:00'));
    await putAttempt(on.fresh.database, { orderNo: 1001, paidAt: NOON });
    await turn();
    expect(asked).toEqual(['2026-01-29', '2026-01-30']);
    await anHourLater();
    on.clock.set(at('2026-01-31 23:00:00'));
    expect(await turn()).toBe(0);
    await anHourLater();
    on.clock.set(at('2026-02-01 03:00:00'));
    on.statement = async function* (day) {
      asked.push(day);
      if (day === '2026-01-30') yield line('1001000101');
    };
    expect(await turn()).toBe(2);
    expect(asked.slice(2)).toEqual(['2026-01-30', '2026-01-31']);
    expect((await listReconciliations(on.operator)).map(({ open }) => open)).toEqual([0, 0, 0]);
    await anHourLater();
    on.clock.set(at('2026-02-02 03:00:00'));
    await turn();
    expect(asked.slice(4)).toEqual(['2026-02-01']);
  });
});

describe('a day that fails', () => {
  beforeEach(() => {
    on.statement = async function* (day) {
      asked.push(day);
      if (day === '2026-01-29') throw new StatementUnavailable(`no statement of ${day}`);
      yield line('X');
    };
  });

  it('raises an alert, and the next day is reconciled nevertheless', async () => {
    expect(await turn()).toBe(1);
    expect(await alerts(on.fresh.database)).toEqual([
      { kind: 'reconciliation-difference', subject: `${CODE} 2026-01-30`, detail: 'open: 1 MISSING_HERE' },
      { kind: 'reconciliation-failed', subject: `${CODE} 2026-01-29`, detail: 'no statement of 2026-01-29' },
    ]);
  });

  it('is retried an hour later, not before', async () => {
    await turn();
    expect(await turn()).toBe(0);
    expect(asked).toHaveLength(2);
    await anHourLater();
    on.statement = async function* (day) {
      asked.push(day);
      yield* [];
    };
    expect(await turn()).toBe(1);
    expect(asked.slice(2)).toEqual(['2026-01-29']);
  });

  it('for an internal reason reveals no more than that', async () => {
    on.statement = () => {
      throw new Error('secret of the machine');
    };
    await turn();
    expect((await alerts(on.fresh.database)).map(({ detail }) => detail)).toEqual([
      'see the log for the reason',
      'see the log for the reason',
    ]);
  });
});
