import { describe, expect, it } from 'vitest';
import { debitOf, questionOf, startWorld, until } from './support/world.js';

const SECOND = 1_000;
/** Longer than a process has a number in hand. */
const TAKEN_OVER = 25 * SECOND;

function gate() {
  let open: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { until, open };
}

describe('debits', () => {
  it('are paid once: repeated, five at once, by two processes; another amount or agreement is a 409', async () => {
    const world = await startWorld();
    const { institution, ask } = world;
    const other = await world.start();
    const first = await ask('debit', debitOf('D1'));
    expect(first).toEqual({
      http: 200,
      fields: {
        attemptNo: 'D1',
        status: 'SUCCESS',
        amountCent: 1990,
        paidAt: 1_700_000_000_000,
        institutionRef: 'pay-1',
      },
    });
    expect(await ask('debit', debitOf('D1', { startedAt: 5 }))).toEqual(first);
    expect(await ask('debit', debitOf('D1'), other)).toEqual(first);
    expect(await ask('debit-query', questionOf('D1'), other)).toEqual(first);
    for (const changed of [{ amountCent: 1991 }, { institutionNo: 'OTHER' }]) {
      expect(await ask('debit', debitOf('D1', changed))).toMatchObject({ http: 409 });
    }

    const { until: opened, open } = gate();
    institution.mishaps.set('debit', { until: opened });
    const same = [1, 2, 3, 4, 5].map(() => ask('debit', debitOf('D2')));
    await until('the call', () => institution.calls.includes('debit D2'));
    expect(await ask('debit', debitOf('D2', { amountCent: 1 }))).toMatchObject({ http: 409 });
    expect((await ask('debit', debitOf('D2'), other)).fields).toEqual({ attemptNo: 'D2', status: 'PENDING' });
    expect((await ask('debit-query', questionOf('D2'), other)).fields['status']).toBe('PENDING');
    const question = ask('debit-query', questionOf('D2'));
    open();
    const answers = await Promise.all([...same, question]);
    expect(new Set(answers.map(({ fields }) => fields['institutionRef']))).toEqual(new Set(['pay-2']));

    expect((await ask('debit', debitOf('D3', { institutionNo: 'POOR' }))).fields).toEqual({
      attemptNo: 'D3',
      status: 'DECLINED',
      decline: 'RETRYABLE',
      reason: 'card … has no money',
    });
    expect((await ask('debit-query', questionOf('D4'))).fields).toEqual({ attemptNo: 'D4', status: 'NOT_FOUND' });
    expect(institution.payments.map(({ attemptNo }) => attemptNo)).toEqual(['D1', 'D2']);
    expect(institution.calls.filter((call) => call.startsWith('find'))).toEqual(['findDebit D4']);
    expect(world.log()).not.toContain('6222');
  });

  it('refuse what is not as the protocol says, and pass nothing on', async () => {
    const { ask, institution } = await startWorld();
    const bad = [
      { amountCent: 0 },
      { amountCent: '1' },
      { institutionNo: '' },
      { attemptNo: 'a b' },
      { startedAt: null },
    ];
    for (const wrong of bad) expect(await ask('debit', debitOf('D1', wrong))).toMatchObject({ http: 400 });
    expect(await ask('debit', debitOf('D1'), undefined, 'D2')).toMatchObject({ http: 400 });
    expect(institution.calls).toEqual([]);
  });

  it.each(['book-written', 'institution-called', 'result-written'] as const)(
    'survive a crash at %s: the number is looked for, and paid once',
    async (point) => {
      const world = await startWorld({
        at: (reached, number) => {
          if (reached === point && number === 'D1') throw new Error('killed');
        },
      });
      const { institution, clock, ask } = world;
      expect(await ask('debit', debitOf('D1'))).toMatchObject({ http: 500 });
      const other = await world.start({ at: () => undefined });
      const isWritten = point === 'result-written';
      const word = async (operation: string, body: object) => (await ask(operation, body, other)).fields['status'];
      // Somebody may still have it in hand.
      expect(await word('debit-query', questionOf('D1'))).toBe(isWritten ? 'SUCCESS' : 'PENDING');
      expect(await word('debit', debitOf('D1'))).toBe(isWritten ? 'SUCCESS' : 'PENDING');
      clock.ahead = TAKEN_OVER;
      if (point === 'book-written') {
        await until('the question', async () => (await word('debit-query', questionOf('D1'))) === 'NOT_FOUND');
        expect(institution.payments).toEqual([]);
      }
      await until('the result', async () => (await word('debit', debitOf('D1'))) === 'SUCCESS');
      expect(await word('debit-query', questionOf('D1'))).toBe('SUCCESS');
      expect(institution.payments).toHaveLength(1);
      expect(institution.calls.filter((call) => call === 'debit D1')).toHaveLength(1);
    },
  );

  it('whose answer was lost are asked for, and never paid to find out', async () => {
    const world = await startWorld();
    const { institution, ask, clock, taker } = world;
    institution.mishaps.set('debit', 'fails-after');
    expect((await ask('debit', debitOf('D1'))).fields).toEqual({ attemptNo: 'D1', status: 'PENDING' });
    institution.mishaps.clear();
    expect((await ask('debit', debitOf('D1'))).fields['status']).toBe('SUCCESS');
    expect(institution.calls).toEqual(['debit D1', 'findDebit D1']);

    // Nobody asks: the worker does, and the service gets a notice.
    institution.mishaps.set('debit', 'fails-after').set('findDebit', 'fails-before');
    await ask('debit', debitOf('D2'));
    expect((await ask('debit-query', questionOf('D2'))).fields['status']).toBe('PENDING');
    institution.mishaps.clear();
    clock.ahead = 16 * SECOND;
    await until('the notice', () => taker.taken.length === 1);
    expect(taker.taken[0]).toMatchObject({ kind: 'DEBIT', attemptNo: 'D2', status: 'SUCCESS', amountCent: 1990 });
    expect(institution.payments).toHaveLength(2);
    expect(world.log()).not.toContain('6222');
  });

  it('that the institution does not know are paid only while it pays a number once', async () => {
    const { institution, ask, clock, log } = await startWorld();
    institution.mishaps.set('debit', 'fails-before');
    for (const attemptNo of ['D1', 'D2']) await ask('debit', debitOf(attemptNo));
    institution.mishaps.clear();
    expect((await ask('debit-query', questionOf('D1'))).fields['status']).toBe('NOT_FOUND');
    expect((await ask('debit', debitOf('D1'))).fields['status']).toBe('SUCCESS');
    clock.ahead = institution.repeatableForMs + SECOND;
    await until('the worker’s alert', () => log().includes('look there'));
    await until('the end of the question', async () => {
      const said = await ask('debit', debitOf('D2'));
      expect(said.fields['status']).toBe('PENDING');
      return institution.calls.filter((call) => call === 'findDebit D2').length > 1;
    });
    expect((await ask('debit-query', questionOf('D2'))).fields['status']).toBe('PENDING');
    expect(institution.payments).toHaveLength(1);
  });

  it('are found at the institution when the book was lost', async () => {
    const { institution, ask, clock, query, schema, taker } = await startWorld();
    const long = debitOf('D1');
    await ask('debit', long);
    await ask('debit', debitOf('D2', { institutionNo: 'SLOW' }));
    await ask('debit', debitOf('D3'));
    await query(`truncate ${schema}.debits`);
    expect((await ask('debit-query', questionOf('D1'))).fields).toMatchObject({
      status: 'SUCCESS',
      institutionRef: 'pay-1',
    });
    expect((await ask('debit-query', questionOf('D2'))).fields['status']).toBe('PENDING');
    institution.settle('D2', institution.paid('D2', 1990));
    clock.ahead = TAKEN_OVER;
    await until('the notice', () => taker.taken.some(({ attemptNo }) => attemptNo === 'D2'));

    // So old that the institution would take it for a new one.
    await query(`truncate ${schema}.debits`);
    clock.ahead = institution.repeatableForMs + SECOND;
    expect((await ask('debit', long)).fields).toMatchObject({ status: 'SUCCESS', institutionRef: 'pay-1' });
    expect((await ask('refund', { refundNo: 'R3', attemptNo: 'D3', amountCent: 5 })).fields['status']).toBe('SUCCESS');
    expect(institution.calls.filter((call) => call === 'debit D1')).toHaveLength(1);

    // Neither the book nor the institution can say.
    institution.mishaps.set('findDebit', 'fails-before');
    expect(await ask('debit-query', questionOf('D9'))).toMatchObject({ http: 503 });
    expect(institution.payments).toHaveLength(3);
  });

  it('answer in time, and keep a result that comes too late', async () => {
    const { institution, ask, taker, log } = await startWorld({ callMs: 300 });
    const { until: opened, open } = gate();
    institution.mishaps.set('debit', { until: opened });
    expect((await ask('debit', debitOf('D1'))).fields['status']).toBe('PENDING');
    open();
    await until('the notice', () => taker.taken.length === 1);
    expect((await ask('debit-query', questionOf('D1'))).fields['status']).toBe('SUCCESS');
    expect(institution.payments).toHaveLength(1);
    expect(log()).toContain('no answer in time');
  });
});
