import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startInstitution } from '@perennial/reference-peers';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { commandLine } from '../cli/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { csvOf, DAY, line, putAttempt } from './support.js';

const fresh = ofFile(freshDatabase);
const { dataDir: folder, run, text, json } = commandLine(() => fresh);
beforeAll(async () => {
  const create = ['payment-channel', 'create', 'UNIPAY', '--name', 'Uni Pay', '--banks', '*'];
  await text(...create, '--gateway', 'bridge', '--gateway-url', 'http://localhost:1');
});

async function statement(content: string): Promise<string[]> {
  const file = path.join(folder, 'statement.csv');
  await writeFile(file, content);
  return ['reconciliation', 'run', '--payment-channel', 'UNIPAY', '--day', DAY, '--csv', file];
}

describe('perennial reconciliation', () => {
  it('run, differences, close, list', async () => {
    for (const list of ['list', 'differences']) expect(await text('reconciliation', list)).toBe('nothing yet\n');
    const debit = await putAttempt(fresh.database, { orderNo: 1001 });
    const ran = await text(...(await statement(csvOf([line(debit, { amountCent: 1991 }), line('STRANGER')]))));
    expect(ran).toMatch(/^Statement +2 lines, from a file$/m);
    expect(ran).toMatch(/^Open +2; see/m);

    expect(await text('reconciliation', 'differences')).toMatch(
      new RegExp(`^\\d+ +${DAY} +UNIPAY +AMOUNT +DEBIT +${debit} +SUCCESS 19.90 CNY +SUCCESS 19.91 CNY +2`, 'm'),
    );
    const { items } = await json('reconciliation', 'differences', '--payment-channel', 'UNIPAY', '--day', DAY);
    expect(items).toHaveLength(2);
    const { differenceNo } = items.find((one: { kind: string }) => one.kind === 'MISSING_HERE');
    expect(await text('reconciliation', 'close', differenceNo, '--note', 'asked the bank')).toBe(
      `difference ${differenceNo} is closed\n`,
    );
    expect(await text('reconciliation', 'close', differenceNo, '--note', 'again')).toContain(
      'was already closed by cli:',
    );
    expect((await json('reconciliation', 'differences')).items).toHaveLength(1);
    expect((await json('reconciliation', 'differences', '--all')).items).toHaveLength(2);
    expect(await json('reconciliation', 'list', '--payment-channel', 'UNIPAY', '--limit', '5')).toMatchObject({
      items: [{ day: DAY, source: 'FILE', lines: 2, differences: 2, open: 1 }],
    });
    expect(await text('audit', 'list', '--subject', 'UNIPAY')).toMatch(/reconciliation\.close.*reconciliation\.run/s);
  });

  it('run requests the statement from the bridge if no file is given', async () => {
    const { gatewayKey } = await json('payment-channel', 'reset-key', 'UNIPAY');
    const institution = await startInstitution({
      ...{ port: 0, clock: systemClock },
      key: Buffer.from(gatewayKey, 'base64'),
    });
    try {
      await text('payment-channel', 'update', 'UNIPAY', '--gateway-url', institution.url);
      const day = ['--payment-channel', 'UNIPAY', '--day', '2026-01-15'];
      expect(await json('reconciliation', 'run', ...day)).toMatchObject({ source: 'GATEWAY', lines: 0, open: 0 });
    } finally {
      await institution.stop();
    }
  });

  it('refuses a missing file, an invalid day, and a bridge that does not answer', async () => {
    const on = ['reconciliation', 'run', '--payment-channel', 'UNIPAY'];
    const missing = await run(...on, '--day', DAY, '--csv', path.join(folder, 'nowhere.csv'));
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('the statement cannot be read: ENOENT') });
    const noDay = await run(...on, '--day', '2026-01-32', '--json');
    expect(JSON.parse(noDay.stderr).error).toContain('the day must have the form 2026-01-31');
    await text('payment-channel', 'update', 'UNIPAY', '--gateway-url', 'http://localhost:1');
    const silent = await run(...on, '--day', DAY);
    expect(silent).toMatchObject({ code: 1, stderr: expect.stringContaining('the bridge gave no statement') });
  });
});
