import { BRIDGE_HEADERS, MAX_MESSAGE_BYTES } from '@perennial/wire/bridge';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSignedServer } from '../src/server/index.js';
import { ask as askAt, debitOf, gate, KEY, questionOf, startWorld, until } from './support/world.js';

const SECOND = 1_000;
/** The time after which another process can take a number over: longer than a lease. */
const TAKEN_OVER = 25 * SECOND;

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
    expect(world.log()).not.toContain('6222020000001234567');
  });

  it('refuse requests that violate the protocol, without calling the institution', async () => {
    const { ask, institution, bridge, clock } = await startWorld();
    const bad = [
      { amountCent: 0 },
      { amountCent: '1' },
      { institutionNo: '' },
      { attemptNo: 'a b' },
      { startedAt: null },
      { cycleNo: 2 ** 31 },
    ];
    for (const wrong of bad) expect(await ask('debit', debitOf('D1', wrong))).toMatchObject({ http: 400 });
    expect(await ask('debit', debitOf('D1'), undefined, 'D2')).toMatchObject({ http: 400 });
    for (const day of ['2026-13-45', '2026-02-29', '20260228', null]) {
      expect(await ask('statement', { day, cursor: null })).toMatchObject({ http: 400 });
    }
    expect(await ask('statement', { day: '2024-02-29', cursor: null })).toMatchObject({ http: 200 });
    expect(await ask('debit-query', { ...questionOf('D1'), cycleNo: 2 ** 31 - 1 })).toMatchObject({ http: 200 });
    institution.calls.length = 0;
    expect(await bareStatus(bridge.url, '{}')).toEqual([401, null]);
    expect(await bareStatus(bridge.url, 'x'.repeat(MAX_MESSAGE_BYTES + 1))).toEqual([413, null]);
    const limits = { headersTimeout: 10_000, requestTimeout: 15_000, maxConnections: 4_000 };
    const handle = async () => 'hang-up' as const;
    const server = createSignedServer({ key: KEY, clock, operations: [], handle, onFault: () => undefined });
    expect(server.server).toMatchObject(limits);
    await server.close();
    const late = debitOf('D1');
    clock.ahead = 301 * SECOND;
    await expect(askAt(bridge.url, 'debit', late)).rejects.toThrow('not signed');
    expect(institution.calls).toEqual([]);
  });

  it('with impossible results of the institution are unknown, and faults are not explained', async () => {
    const { ask, institution, query, schema } = await startWorld();
    expect((await ask('debit', debitOf('D1', { institutionNo: 'ODD' }))).fields).toEqual({
      attemptNo: 'D1',
      status: 'PENDING',
      institutionAnswered: false,
    });
    institution.mishaps.set('debit', 'says-nonsense').set('refund', 'says-nonsense');
    expect((await ask('debit', debitOf('D2'))).fields['status']).toBe('PENDING');
    expect((await ask('debit', debitOf('D2'))).fields).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    const refund = { refundNo: 'R1', attemptNo: 'D2', amountCent: 1 };
    expect((await ask('refund', refund)).fields['status']).toBe('PENDING');
    expect((await ask('refund', refund)).fields).toMatchObject({ status: 'SUCCESS', amountCent: 1 });
    const line = {
      kind: 'DEBIT',
      number: 'D1',
      amountCent: 1,
      status: 'SUCCESS',
      bookedAt: 1,
      institutionRef: 'x',
    } as const;
    institution.statement = async () => ({ lines: Array.from({ length: 1001 }, () => line), nextCursor: undefined });
    expect(await ask('statement', { day: '2026-03-20', cursor: null })).toMatchObject({ http: 500 });
    await query(`drop table ${schema}.debits`);
    expect(await ask('debit', debitOf('D3'))).toEqual({ http: 500, fields: { error: 'internal error' } });
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
      // The process that was killed may still hold the lease.
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

  it('whose answer was lost are queried, and never paid again', async () => {
    const world = await startWorld();
    const { institution, ask, clock, taker } = world;
    institution.mishaps.set('debit', 'fails-after');
    expect((await ask('debit', debitOf('D1'))).fields).toEqual({
      attemptNo: 'D1',
      status: 'PENDING',
      institutionAnswered: false,
    });
    institution.mishaps.clear();
    expect((await ask('debit', debitOf('D1'))).fields['status']).toBe('SUCCESS');
    expect(institution.calls).toEqual(['debit D1', 'findDebit D1']);

    // If the service does not ask again, the worker queries the institution, and the service gets a notice.
    institution.mishaps.set('debit', 'fails-after').set('findDebit', 'fails-before');
    await ask('debit', debitOf('D2'));
    expect((await ask('debit-query', questionOf('D2'))).fields['status']).toBe('PENDING');
    // A failed query releases the lease.
    for (let times = 0; times < 2; times += 1) await ask('debit', debitOf('D3'));
    institution.mishaps.clear();
    expect((await ask('debit', debitOf('D3'))).fields['status']).toBe('SUCCESS');
    clock.ahead = 16 * SECOND;
    await until('the notice', () => taker.taken.length === 1);
    expect(taker.taken[0]).toMatchObject({ kind: 'DEBIT', attemptNo: 'D2', status: 'SUCCESS', amountCent: 1990 });
    expect(institution.payments).toHaveLength(3);
    expect(world.log()).not.toContain('6222020000001234567');
  });

  it('that the institution does not know are paid only while it executes a number once', async () => {
    const { institution, ask, clock, log } = await startWorld();
    institution.mishaps.set('debit', 'fails-before');
    for (const attemptNo of ['D1', 'D2']) await ask('debit', debitOf(attemptNo));
    institution.mishaps.clear();
    expect((await ask('debit-query', questionOf('D1'))).fields['status']).toBe('NOT_FOUND');
    expect((await ask('debit', debitOf('D1'))).fields['status']).toBe('SUCCESS');
    clock.ahead = institution.repeatableForMs + SECOND;
    await until('the worker’s alert', () => log().includes('check there'));
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
    expect((await ask('debit', debitOf('D2', { institutionNo: 'SLOW' }))).fields['status']).toBe('PENDING');
    expect(await ask('debit', debitOf('D2', { institutionNo: 'OTHER' }))).toMatchObject({ http: 409 });
    institution.settle('D2', institution.paid('D2', 1990));
    clock.ahead = TAKEN_OVER;
    await until('the notice', () => taker.taken.some(({ attemptNo }) => attemptNo === 'D2'));

    // The debit is so old that the institution would take it for a new debit.
    await query(`truncate ${schema}.debits`);
    clock.ahead = institution.repeatableForMs + SECOND;
    expect((await ask('debit', long)).fields).toMatchObject({ status: 'SUCCESS', institutionRef: 'pay-1' });
    expect((await ask('refund', { refundNo: 'R3', attemptNo: 'D3', amountCent: 5 })).fields['status']).toBe('SUCCESS');
    expect(institution.calls.filter((call) => call === 'debit D1')).toHaveLength(1);

    // Neither the book nor the institution knows the outcome.
    institution.mishaps.set('findDebit', 'fails-before');
    expect(await ask('debit-query', questionOf('D9'))).toMatchObject({ http: 503 });
    expect(institution.payments).toHaveLength(3);
  });

  it('answer in time, and store a late result', async () => {
    const callMs = 299_792;
    const { institution, ask, taker, log } = await startWorld({ callMs, idleMs: 600 * SECOND });
    // The test ends the deadline, because writing the book may take longer than a real deadline.
    const deadline = new AbortController();
    const { timeout } = AbortSignal;
    const timeouts = vi.spyOn(AbortSignal, 'timeout');
    timeouts.mockImplementation((ms) => (ms === callMs ? deadline.signal : timeout.call(AbortSignal, ms)));
    onTestFinished(() => timeouts.mockRestore());
    const { until: opened, open } = gate();
    institution.mishaps.set('debit', { until: opened });
    const answer = ask('debit', debitOf('D1'));
    await until('the call', () => institution.calls.includes('debit D1'));
    deadline.abort();
    expect((await answer).fields['status']).toBe('PENDING');
    open();
    await until('the notice', () => taker.taken.length === 1);
    expect((await ask('debit-query', questionOf('D1'))).fields['status']).toBe('SUCCESS');
    expect(institution.payments).toHaveLength(1);
    expect(log()).toContain('no answer before the deadline');
  });

  it('that a webhook settles during the call are answered with it, and leases are exclusive', async () => {
    const world = await startWorld({ callMs: 60 * SECOND, idleMs: 600 * SECOND });
    const { institution, ask, tell, clock, query, schema } = world;
    const first = gate();
    institution.mishaps.set('debit', { until: first.until });
    const slow = debitOf('D1', { institutionNo: 'SLOW' });
    const answer = ask('debit', slow);
    await until('the call', () => institution.calls.length === 1);
    const told = { about: 'debit', attemptNo: 'D1' };
    for (const institutionRef of ['early', 'another']) {
      expect(await tell([{ ...told, outcome: { status: 'PENDING', institutionRef } }])).toBe(200);
    }
    expect(await query(`select state, institution_ref from ${schema}.debits`)).toEqual([
      { state: 'BEGUN', institution_ref: 'early' },
    ]);
    const success = institution.paid('D1', 1990);
    expect(await tell([{ ...told, outcome: success }])).toBe(200);
    first.open();
    expect((await answer).fields).toEqual({ attemptNo: 'D1', ...success });
    expect(await tell([{ ...told, outcome: { ...success, amountCent: 1991 } }])).toBe(200);
    const metrics = await (await fetch(`${world.bridge.monitoringUrl}/metrics`)).text();
    expect(metrics).toContain('bridge_contradictions_total{about="debit"} 1');

    // The call takes so long that another process takes over the lease. That process keeps the lease when the call
    // fails.
    const call = gate();
    institution.mishaps.set('debit', { until: call.until.then(() => Promise.reject(new Error('cut off'))) });
    const failed = ask('debit', debitOf('D2'));
    await until('the call', () => institution.calls.includes('debit D2'));
    const other = await world.start();
    clock.ahead = TAKEN_OVER;
    const found = gate();
    institution.mishaps.set('findDebit', { until: found.until });
    const question = ask('debit-query', questionOf('D2'), other);
    await until('the question', () => institution.calls.includes('findDebit D2'));
    call.open();
    expect((await failed).fields['status']).toBe('PENDING');
    expect((await ask('debit', debitOf('D2'))).fields['status']).toBe('PENDING');
    institution.mishaps.delete('debit');
    await ask('debit', debitOf('D3', { institutionNo: 'SLOW' }));
    clock.ahead += 16 * SECOND;
    await world.start({ idleMs: 20 });
    await until('the worker', () => institution.calls.includes('findDebit D3'));
    expect(institution.calls.filter((made) => made === 'findDebit D2')).toHaveLength(1);
    found.open();
    expect((await question).fields['status']).toBe('NOT_FOUND');
    await until('the number', async () => (await ask('debit', debitOf('D2'))).fields['status'] === 'SUCCESS');
    expect(institution.payments.map(({ attemptNo }) => attemptNo)).toEqual(['D1', 'D2']);

    // The delay between queries grows.
    const askAt = new Map<unknown, number>();
    await until('the third question', async () => {
      const [row] = await query(`select asked, ask_at::float8 as at from ${schema}.debits where number = 'D3'`);
      askAt.set(row?.['asked'], Number(row?.['at']));
      clock.ahead += 5 * SECOND;
      return askAt.has(3);
    });
    expect((askAt.get(3) ?? Number.NaN) - (askAt.get(2) ?? Number.NaN)).toBeGreaterThanOrEqual(60 * SECOND);
  });
});

/** Sends a request without a signature. Returns the HTTP status and the response's signature (null if it has none). */
async function bareStatus(url: string, body: string): Promise<[number, string | null]> {
  const response = await fetch(`${url}/debit`, { method: 'POST', body });
  return [response.status, response.headers.get(BRIDGE_HEADERS.signature)];
}
