import { beforeEach, describe, expect, it } from 'vitest';
import type { DebitOutcome, DebitRequest } from '../../src/gateways/gateway.js';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { gate } from '../agreements/support.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { alerts, eventsOf, paid, toldAbout } from '../orders/support.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { attemptNoOf, clockedEngineOfFile, created, declined, success, unknown } from './support.js';

/** Tests notices about a renewal that are late, repeated, misdirected or malformed. Most of them raise an alert. */

const { on, found } = stageOfFile();
// By the engine's clock, the second period and its retry are due; the third period is not.
const node = clockedEngineOfFile(on, Date.UTC(2026, 2, 15), { debitDeadlineMs: 60_000 });
beforeEach(async () => {
  await on.askPending();
  await sql('update orders set next_due_at = null');
  await sql('delete from alerts');
  on.institution.reset();
});

const sql = <Row>(text: string, values: readonly unknown[] = []) => node.deps.database.query<Row>(text, values);
const periodOf = async (orderNo: string) => (await found(orderNo)).paymentRecords[1];
const raised = () => alerts(node.deps.database);
const told = async (orderNo: string) => (await toldAbout(node.deps.database, orderNo)).slice(2);
const numberOf = (orderNo: string, tryNo = 1) => attemptNoOf(orderNo, 2, tryNo);
const paidNow = (number: string, more: object = {}) => success(number, on.service.clock.now(), more);

async function news(attemptNo: string, outcome: DebitOutcome, code?: string): Promise<void> {
  const reply = await on.notice({ kind: 'debit', attemptNo, outcome }, code);
  expect(reply.status, reply.text).toBe(200);
}

/** Creates an order and debits its second period. The institution answers with `answer`. */
async function renewed(answer: (request: DebitRequest) => Promise<DebitOutcome>): Promise<string> {
  const orderNo = await created(on);
  on.institution.onDebit = answer;
  expect(await node.renewOnce()).toBe(1);
  on.institution.reset();
  return orderNo;
}
const pending = () => renewed(async () => ({ kind: 'pending' }));
const answered = (outcome: DebitOutcome) => renewed(async () => outcome);

/** Returns everything that is stored about an order. */
const stored = async (orderNo: string) =>
  Promise.all(
    ['orders', 'payments', 'debit_attempts', 'benefits', 'events'].map((table) =>
      sql(`select * from ${table} t where order_no = $1 order by t::text`, [orderNo]),
    ),
  );

describe('the opposite of the settled outcome', () => {
  it.each<[string, () => Promise<string>, (number: string) => DebitOutcome]>([
    ['settled as SUCCESS, later reported as FAIL', () => renewed(async (r) => paid(r)), () => declined('final')],
    ['settled as SUCCESS, later reported as FAIL', () => renewed(async (r) => paid(r)), () => declined('retryable')],
    [
      'settled as SUCCESS, later reported as FAIL',
      () => renewed(async (r) => paid(r)),
      () => declined('agreement-invalid'),
    ],
    ['settled as FAIL, later reported as SUCCESS', () => answered(declined('final')), paidNow],
    ['settled as FAIL, later reported as SUCCESS', () => answered(declined('agreement-invalid')), paidNow],
  ])('%s: an alert, and nothing changes', async (detail, begin, outcome) => {
    const orderNo = await begin();
    const before = await stored(orderNo);
    for (const _again of [1, 2]) await news(numberOf(orderNo), outcome(numberOf(orderNo)));
    expect(await stored(orderNo)).toEqual(before);
    expect(await raised()).toEqual([{ kind: 'debit-contradiction', subject: numberOf(orderNo), detail }]);
    expect(await sql('select seen from alerts')).toEqual([{ seen: 2 }]);
  });

  it('settled as FAIL with a retry planned, then reported as SUCCESS: paid, not retried, and an alert', async () => {
    const orderNo = await answered(declined('retryable'));
    expect((await periodOf(orderNo)).paymentStatus).toBe('FAIL_RETRY');
    for (const _again of [1, 2]) await news(numberOf(orderNo), paidNow(numberOf(orderNo)));
    expect((await periodOf(orderNo)).paymentStatus).toBe('SUCCESS');
    const accepted = { subject: numberOf(orderNo), detail: 'settled as FAIL, later reported as SUCCESS' };
    expect(await raised()).toEqual([{ kind: 'debit-late-success', ...accepted }]);
    expect(await sql('select seen from alerts')).toEqual([{ seen: 1 }]);
    const attempts = await sql('select status from debit_attempts where order_no = $1 and cycle_no = 2', [orderNo]);
    expect(attempts).toEqual([{ status: 'SUCCESS' }]);
    expect(await told(orderNo)).toEqual(['FAIL_RETRY', 'SUCCESS']);
    expect(await sql('select 1 from benefits where order_no = $1 and cycle_no = 2', [orderNo])).not.toEqual([]);

    // The late success counts, even if the institution denies it afterwards.
    const before = await stored(orderNo);
    await news(numberOf(orderNo), declined('retryable'));
    expect(await stored(orderNo)).toEqual(before);
    expect(await raised()).toEqual([
      { kind: 'debit-contradiction', ...accepted, detail: 'settled as SUCCESS, later reported as FAIL' },
      { kind: 'debit-late-success', ...accepted },
    ]);
  });

  it('an earlier attempt is reported as SUCCESS after a later one has succeeded: the alert names the earlier one', async () => {
    const orderNo = await answered(declined('retryable'));
    expect(await node.renewOnce()).toBe(1);
    expect((await periodOf(orderNo)).paymentStatus).toBe('SUCCESS');
    const before = await stored(orderNo);
    await news(numberOf(orderNo, 1), paidNow(numberOf(orderNo, 1)));
    expect(await stored(orderNo)).toEqual(before);
    expect(await raised()).toMatchObject([{ kind: 'debit-contradiction', subject: numberOf(orderNo, 1) }]);
  });

  it.each<[string, (number: string) => DebitOutcome, { kind: string }[]]>([
    ['pending', () => ({ kind: 'pending' }), []],
    ['unknown', () => unknown, []],
    ['another amount', (number) => paidNow(number, { amountCent: 1991 }), [{ kind: 'debit-wrong-amount' }]],
  ])('%s after SUCCESS: nothing changes, and nothing is queried', async (_what, outcome, expected) => {
    const orderNo = await renewed(async (request) => paid(request));
    const subject = numberOf(orderNo);
    const before = await stored(orderNo);
    await news(subject, outcome(subject));
    expect(await stored(orderNo)).toEqual(before);
    expect(await on.askDue()).toBe(0);
    expect(await raised()).toMatchObject(expected.map((alert) => ({ ...alert, subject })));
  });
});

describe('notices that match nothing', () => {
  it.each<[string, (orderNo: string) => string, sender?: string]>([
    ['an attempt of another payment channel', (orderNo) => numberOf(orderNo), 'MOCKBANK'],
    ['an attempt that was never made', (orderNo) => numberOf(orderNo, 2)],
    ['a period that was not started', (orderNo) => attemptNoOf(orderNo, 3, 1)],
    ["a period beyond the order's last", (orderNo) => attemptNoOf(orderNo, 13, 1)],
    ['an unknown order', () => attemptNoOf('999999999999', 2, 1)],
    ['a refund', (orderNo) => `R${numberOf(orderNo)}`],
    ['no number', () => 'the second period'],
    ['nothing', () => ''],
    ['a fraction', () => '10000000100000010.5'],
    ['a number that is too large', () => `1${'0'.repeat(200)}`],
  ])('%s: an alert, and nothing changes', async (_what, number, sender = 'MOCKPAY') => {
    const orderNo = await pending();
    const before = await stored(orderNo);
    await news(number(orderNo), paidNow(number(orderNo)), sender);
    expect(await stored(orderNo)).toEqual(before);
    expect(await raised()).toEqual([
      { kind: 'notice-for-unknown-attempt', subject: number(orderNo).slice(0, 64), detail: `sent by ${sender}` },
    ]);
  });

  it.each([1989, 1991, 1])(
    'success with %i instead of 1990 cents: an alert, and queried at once',
    async (amountCent) => {
      const orderNo = await pending();
      await news(numberOf(orderNo), paidNow(numberOf(orderNo), { amountCent }));
      expect((await periodOf(orderNo)).paymentStatus).toBe('PROCESSING');
      expect(await raised()).toEqual([
        { kind: 'debit-wrong-amount', subject: numberOf(orderNo), detail: `requested 1990, debited ${amountCent}` },
      ]);
      expect(await on.askDue()).toBe(1);
      expect((await periodOf(orderNo)).paymentStatus).toBe('SUCCESS');
    },
  );

  it('a wrong amount that was acknowledged raises a new alert only if the amount changes', async () => {
    const { operator } = on.service;
    const orderNo = await pending();
    const open = async () => (await listAlerts(operator)).map(({ detail, seen }) => [detail, seen]);
    const ask = async (amountCent: number) => {
      on.institution.onQuery = async (request) => paid(request, { amountCent });
      expect(await on.askPending()).toBe(1);
    };
    for (const _again of [1, 2]) await ask(1991);
    expect(await open()).toEqual([['requested 1990, debited 1991', 1]]);
    await acknowledgeAlert(operator, { kind: 'debit-wrong-amount', subject: numberOf(orderNo) });
    for (const _again of [1, 2]) await ask(1991);
    expect(await open()).toEqual([]);
    await ask(1992);
    expect(await open()).toEqual([['requested 1990, debited 1992', 2]]);
  });
});

describe('concurrent notices', () => {
  const settledOnce = async (orderNo: string) => {
    expect(await told(orderNo)).toEqual(['SUCCESS']);
    expect(await sql('select from benefits where order_no = $1 and cycle_no = 2', [orderNo])).toHaveLength(2);
    expect(await found(orderNo)).toMatchObject({ totalPaidAmountCent: 2 * 1990, nextPayTime: '2026-03-31 12:00:00' });
  };

  it('the same notice 100 times at once: settled once, no alert', async () => {
    const orderNo = await pending();
    const number = numberOf(orderNo);
    await Promise.all(Array.from({ length: 100 }, () => news(number, paidNow(number))));
    await settledOnce(orderNo);
    expect(await raised()).toEqual([]);
  });

  it('before the answer: the notice settles it, and the answer changes nothing', async () => {
    const orderNo = await created(on);
    const held = gate();
    on.institution.onDebit = async (request) => {
      await held.stand();
      return paid(request);
    };
    const renewing = node.renewOnce();
    await held.reached;
    await news(numberOf(orderNo), paidNow(numberOf(orderNo)));
    await settledOnce(orderNo);
    held.open();
    await renewing;
    await settledOnce(orderNo);
    expect(await raised()).toEqual([]);
  });

  /**
   * Settles a debit by its answer and by a notice at the same time: both wait for the order's row, which the test has
   * locked.
   */
  async function together(orderNo: string, outcome: DebitOutcome): Promise<void> {
    const both: Promise<unknown>[] = [];
    await on.service.fresh.database.transaction(async (tx) => {
      const held = gate();
      on.institution.onDebit = async (request) => {
        await held.stand();
        return paid(request);
      };
      both.push(node.renewOnce());
      await held.reached;
      await tx.query('select from orders where order_no = $1 for update', [orderNo]);
      held.open();
      both.push(news(numberOf(orderNo), outcome));
      await until('both wait', async () => (await lockWaits(on.service.fresh.database)) >= 2);
    });
    await Promise.all(both);
  }

  it('while the answer is being settled: settled once, no alert', async () => {
    const orderNo = await created(on);
    await together(orderNo, paidNow(numberOf(orderNo)));
    await settledOnce(orderNo);
    expect(await raised()).toEqual([]);
  });

  it('with the opposite outcome: the first one counts, and the other raises an alert', async () => {
    const orderNo = await created(on);
    await together(orderNo, declined('final'));
    const { paymentStatus } = await periodOf(orderNo);
    expect(await told(orderNo)).toEqual([paymentStatus]);
    expect(await raised()).toMatchObject([{ kind: 'debit-contradiction', subject: numberOf(orderNo) }]);
    const isPaid = paymentStatus === 'SUCCESS';
    expect((await found(orderNo)).totalPaidAmountCent).toBe(isPaid ? 2 * 1990 : 1990);
    expect(await eventsOf(node.deps.database, orderNo)).toHaveLength(3);
  });
});
