import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StatementUnavailable } from '../../src/gateways/bridge/bridge-gateway.js';
import { runReconciliation } from '../../src/operator/books/reconciliation.js';
import { dump } from '../operator/support.js';
import { at, bytes, CODE, csvOf, DAY, type Desk, desk, line, putAttempt, run } from './support.js';

let on: Desk;
let temporary: string;
const outside = process.env['TMPDIR'];
beforeAll(async () => {
  // Uses a separate folder for temporary files, so that the test can check that none is left.
  temporary = await mkdtemp(path.join(os.tmpdir(), 'perennial-refusals-'));
  process.env['TMPDIR'] = temporary;
  on = await desk();
  // Reconciles a day with one difference.
  const debit = await putAttempt(on.fresh.database, { orderNo: 1001 });
  await run(on, [line(debit, { amountCent: 1991 })]);
});
afterAll(async () => {
  if (outside === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = outside;
  await rm(temporary, { recursive: true });
  await on.close();
});

const fromFile = (text: string | AsyncIterable<Uint8Array>, more: object = {}) =>
  runReconciliation(on.operator, {
    ...{ paymentChannelCode: CODE, day: DAY, csv: typeof text === 'string' ? bytes(text) : text },
    ...more,
  });
const fromBridge = (day = DAY, paymentChannelCode = CODE) =>
  runReconciliation(on.operator, { paymentChannelCode, day });

async function refused(attempt: () => Promise<unknown>, message: string): Promise<void> {
  const before = await dump(on.fresh.database);
  await expect(attempt()).rejects.toThrow(message);
  expect(await dump(on.fresh.database)).toBe(before);
  expect(await readdir(temporary)).toEqual([]);
}

describe('a file is refused as a whole, and nothing changes', () => {
  const lines = Array.from({ length: 2500 }, (_, index) => line(`X${index}`));

  it('if its last line is wrong, after thousands of correct ones', async () => {
    const text = csvOf([...lines, line('LAST')]).replace('LAST,1990', 'LAST,19.90');
    await refused(() => fromFile(text), 'line 2502 of the statement: amountCent');
  });

  it('if it is truncated', async () => {
    const text = csvOf(lines);
    await refused(() => fromFile(text.slice(0, -3)), 'line 2501 of the statement: it does not end');
  });

  it.each([
    ['the day before', at('2026-01-29T23:59:59.999+08:00'), '2026-01-29 23:59:59'],
    ['the day after', at('2026-01-31 00:00:00'), '2026-01-31 00:00:00'],
  ])('when a line is of %s', async (_what, bookedAt, told) => {
    const wrong = csvOf([line('A'), line('B', { bookedAt })]);
    await refused(() => fromFile(wrong), `line 3 of the statement: it was booked at ${told}, which is not on ${DAY}`);
  });

  it('when it is empty', () => refused(() => fromFile(''), 'the statement is empty'));

  it('if reading it fails', async () => {
    const broken = async function* () {
      yield Buffer.from(csvOf(lines));
      throw new Error('the disk is gone');
    };
    await refused(() => fromFile(broken()), 'the disk is gone');
  });
});

describe('a bridge’s statement is refused as a whole, and nothing changes', () => {
  it('if it breaks off', async () => {
    on.statement = async function* () {
      yield line('A');
      throw new StatementUnavailable('the bridge gave no statement that can be used');
    };
    await refused(() => fromBridge(), 'the bridge gave no statement');
  });

  it('if a line is of another day', async () => {
    on.statement = async function* () {
      yield line('A');
      yield line('B', { bookedAt: at('2026-01-31 00:00:00') });
    };
    await refused(() => fromBridge(), 'line 2 of the statement: it was booked at 2026-01-31 00:00:00');
  });
});

describe('an impossible request', () => {
  it.each([
    ['today', '2026-01-31', '2026-01-31 is not over yet'],
    ['tomorrow', '2026-02-01', 'is not over yet'],
    ['no day', 'yesterday', 'the day must have the form'],
    ['a day that is none', '2026-02-30', 'the day must have the form'],
    ['a time', '2026-01-30 00:00:00', 'the day must have the form'],
  ])('%s', async (_what, day, message) => {
    await refused(() => fromFile(csvOf([]), { day }), message);
    await refused(() => fromBridge(day), message);
  });

  it('a payment channel that is not there', () =>
    refused(() => fromFile(csvOf([]), { paymentChannelCode: 'NOBODY' }), 'there is no payment channel "NOBODY"'));

  it('a statement of the sandbox, which has none; a file is accepted', async () => {
    await refused(() => fromBridge(DAY, 'MOCKPAY'), 'the sandbox gateway provides no statements; give a file');
    expect(await run(on, [line('X')], 'MOCKPAY')).toMatchObject({ open: 1 });
  });
});
