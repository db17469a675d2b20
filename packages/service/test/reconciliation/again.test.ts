import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { closeDifference, listDifferences, listReconciliations } from '../../src/operator/books/reconciliation.js';
import { alerts } from '../orders/support.js';
import { at, CODE, DAY, deskOfFile, inShort, line, putAttempt, run } from './support.js';

const on = deskOfFile();

const all = () => listDifferences(on.operator, { all: true });
const open = async () => inShort(await listDifferences(on.operator));
async function theOne() {
  const [one, ...others] = await all();
  if (!one || others.length > 0) throw new Error('there is not exactly one difference');
  return one;
}

describe('the same day again', () => {
  it('keeps existing differences, adds new ones, and closes those that are gone', async () => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001 });
    await run(on, [line(debit, { amountCent: 1991 }), line('GONE')]);
    on.clock.set(at('2026-02-01 12:00:00'));
    expect(await run(on, [line(debit, { amountCent: 1991 }), line('NEW'), line('NEW2')])).toMatchObject({
      ...{ lines: 3, differences: 3, open: 3, runAt: '2026-02-01 12:00:00' },
    });
    const times = (await all()).map(({ number, firstSeenAt, lastSeenAt, closedBy }) => [
      ...[number, firstSeenAt.slice(0, 10), lastSeenAt.slice(0, 10), closedBy],
    ]);
    expect(times).toEqual(
      expect.arrayContaining([
        [debit, '2026-01-31', '2026-02-01', null],
        ['GONE', '2026-01-31', '2026-01-31', 'reconciliation'],
        ['NEW', '2026-02-01', '2026-02-01', null],
        ['NEW2', '2026-02-01', '2026-02-01', null],
      ]),
    );
    expect(await listReconciliations(on.operator)).toHaveLength(1);
    expect(await alerts(on.fresh.database)).toMatchObject([{ detail: 'open: 1 AMOUNT, 2 MISSING_HERE' }]);
  });

  it('does not affect other days and payment channels', async () => {
    await run(on, [line('X')]);
    await run(on, [], CODE, '2026-01-29');
    await run(on, [], 'OTHERPAY');
    expect(await open()).toEqual(['MISSING_HERE X | - - | SUCCESS 1990']);
  });

  it('reopens a recurring difference that a run had closed', async () => {
    await run(on, [line('X')]);
    await run(on, []);
    await run(on, [line('X')]);
    expect(await theOne()).toMatchObject({ closedBy: null, closedAt: null, closingNote: null });
  });

  it('run twice concurrently: one after the other, with the same result', async () => {
    const lines = [line('X'), line('Y')];
    await Promise.all([run(on, lines), run(on, lines), run(on, lines)]);
    expect(await open()).toHaveLength(2);
  });
});

describe('closing', () => {
  const close = (differenceNo: string, note = 'seen, ticket 4711') =>
    closeDifference(on.operator, { differenceNo, note });

  it('updates the alert, also if two operators close differences at the same time', async () => {
    await run(on, [line('X'), line('Y'), line('Z')]);
    const [x, y, z] = (await all()).map(({ differenceNo }) => differenceNo);
    const alert = () => on.fresh.database.query('select detail, seen, resolved_at is null as open from alerts');
    await Promise.all([close(x ?? ''), close(y ?? '')]);
    expect(await alert()).toEqual([{ detail: 'open: 1 MISSING_HERE', seen: 1, open: true }]);
    await close(z ?? '');
    expect(await alert()).toMatchObject([{ seen: 1, open: false }]);
  });

  it('removes it from the list, is audited, and changes nothing when repeated', async () => {
    await run(on, [line('X')]);
    const { differenceNo } = await theOne();
    expect(await close(differenceNo)).toMatchObject({
      ...{ changed: true, closedBy: 'test:ann', closingNote: 'seen, ticket 4711' },
    });
    expect(await open()).toEqual([]);
    const again = { changed: false, closingNote: 'seen, ticket 4711' };
    expect(await close(differenceNo, 'another note')).toMatchObject(again);
    const detail = { differenceNo, day: DAY, kind: 'MISSING_HERE', lineKind: 'DEBIT', number: 'X' };
    expect(await listAudit(on.operator, { subject: CODE })).toMatchObject([
      { action: 'reconciliation.close', actor: 'test:ann', detail: { ...detail, note: 'seen, ticket 4711' } },
      { action: 'reconciliation.run', detail: { day: DAY, source: 'FILE', lines: 1, differences: 1 } },
    ]);
  });

  it('persists through later runs while the facts are the same', async () => {
    await run(on, [line('X')]);
    await close((await theOne()).differenceNo);
    await on.fresh.database.query('truncate alerts');
    expect(await run(on, [line('X')])).toMatchObject({ differences: 1, open: 0 });
    expect(await theOne()).toMatchObject({ closedBy: 'test:ann', closingNote: 'seen, ticket 4711' });
    expect(await alerts(on.fresh.database)).toEqual([]);
    // A difference that an operator has closed stays unchanged in another run.
    await run(on, []);
    expect(await theOne()).toMatchObject({ closedBy: 'test:ann' });
  });

  it.each([
    ['their amount', {}, { amountCent: 1992 }],
    ['their state', {}, { status: 'PENDING' }],
    ['our amount', { amountCent: 1989 }, {}],
    ['our state', { status: 'FAIL' }, {}],
  ] as const)('is undone when %s has changed', async (_what, ours, theirs) => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001 });
    await run(on, [line(debit, { amountCent: 1991 })]);
    const { differenceNo } = await theOne();
    await close(differenceNo);
    await putAttempt(on.fresh.database, { orderNo: 1001, ...ours });
    await run(on, [line(debit, { amountCent: 1991, ...theirs })]);
    const again = (await all()).find((one) => one.differenceNo === differenceNo);
    expect(again).toMatchObject({ kind: 'AMOUNT', closedBy: null, closedAt: null, closingNote: null });
  });

  it.each([
    ['a number that nothing has', '999999', 'there is no difference "999999"'],
    ['no number', 'abc', 'there is no difference "abc"'],
    ['a number too large for any', '9'.repeat(30), 'there is no difference'],
  ])('%s is refused', async (_what, differenceNo, message) => {
    await expect(close(differenceNo)).rejects.toThrow(message);
  });

  it('without a note is refused', async () => {
    await run(on, [line('X')]);
    await expect(close((await theOne()).differenceNo, '  ')).rejects.toThrow('the note must have 1 to 200 characters');
    expect(await open()).toHaveLength(1);
  });
});

describe('lists', () => {
  it('of differences: by payment channel, by day, open or all, with a limit', async () => {
    await run(on, [line('X'), line('Y')]);
    await run(on, [line('Z')], 'OTHERPAY');
    const earlier = { ...line('W'), bookedAt: at('2026-01-29 12:00:00') };
    await run(on, [earlier], CODE, '2026-01-29');
    const numbers = async (input: object) => (await listDifferences(on.operator, input)).map(({ number }) => number);
    expect(await numbers({})).toEqual(['X', 'Y', 'Z', 'W']);
    expect(await numbers({ paymentChannelCode: CODE })).toEqual(['X', 'Y', 'W']);
    expect(await numbers({ day: '2026-01-29' })).toEqual(['W']);
    expect(await numbers({ limit: 1 })).toEqual(['X']);
    await run(on, [line('Y')]);
    expect(await numbers({ day: DAY, paymentChannelCode: CODE })).toEqual(['Y']);
    expect(await numbers({ day: DAY, paymentChannelCode: CODE, all: true })).toEqual(['X', 'Y']);
  });
});
