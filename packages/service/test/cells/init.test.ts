import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { rowCounts } from '../orders/support.js';
import { freshDatabase } from '../support/database.js';
import { jsonOf, twoCells } from './support.js';

const cells = twoCells();

const startNode = async (more: Record<string, string>) => {
  const opened = await openDatabaseFromSettings(readSettings(cells.settings(more)), {
    role: 'service',
    log: () => undefined,
  });
  await opened.close();
};
const started = (url: string, cell?: string) => startNode({ DATABASE_URL: url, ...(cell && { CELL: cell }) });

beforeAll(async () => {
  await started(cells.first.url);
  for (const args of [
    [
      'product',
      'create',
      'P1',
      '--name',
      'P',
      '--mode',
      'CHANNEL_COLLECT',
      '--period-type',
      'DAY',
      '--cycles',
      '7',
      '--amount-cent',
      '100',
      '--benefit',
      'PASS:100:Pass',
    ],
    [
      'payment-channel',
      'create',
      'BANK',
      '--name',
      'B',
      '--gateway',
      'bridge',
      '--gateway-url',
      'https://b.example',
      '--banks',
      '*',
    ],
    ['channel', 'create', '--app-id', 'test_first', '--name', 'First'],
  ]) {
    const ran = await cells.inFirstOnly(...args);
    expect(ran.code, ran.stderr).toBe(0);
  }
});

describe('before cell init', () => {
  it('a node with CELL refuses an empty database', async () => {
    await expect(started(cells.second.url, '2')).rejects.toThrow('run perennial cell init first');
  });

  it.each<[string, string[], RegExp]>([
    ['cell 0', ['--cell', '0'], /from 1 to 88/],
    ['cell 89', ['--cell', '89'], /from 1 to 88/],
  ])('refuses %s', async (_what, more, why) => {
    expect((await cells.init(...more)).stderr).toMatch(why);
  });

  it('refuses the settings of another cell, and leaves the database unused', async () => {
    const ran = await cells.run(['cell', 'init', '--like', cells.first.url, '--cell', '2'], {
      DATABASE_URL: cells.second.url,
      CELL: '1',
    });
    expect(ran.stderr).toMatch(/CELL is 1, but --cell is 2/);
    expect(await rowCounts(cells.second.database)).toMatchObject({ installation: 0, products: 0 });
  });
});

describe('cell init', () => {
  it('copies the catalogue and the keys, and nothing of channels, operators or orders', async () => {
    expect(await jsonOf(cells.init('--json'))).toEqual({ cell: 2, created: true });
    const counts = await rowCounts(cells.second.database);
    expect(counts).toMatchObject({ products: 1, product_benefits: 1, payment_channels: 1, channels: 0, orders: 0 });
    const keys = 'select purpose, wrapped from look_up_keys order by purpose';
    expect(await cells.second.database.query(keys)).toEqual(await cells.first.database.query(keys));
    expect(await cells.second.database.query('select gateway_key from payment_channels')).toEqual(
      await cells.first.database.query('select gateway_key from payment_channels'),
    );
    const audit = await jsonOf(cells.inSecondOnly('audit', 'list', '--json'));
    expect(audit.items).toMatchObject([{ action: 'cell.init', detail: { cell: 2, like: 0 } }]);
  });

  it('changes nothing if it is repeated', async () => {
    expect(await jsonOf(cells.init('--json'))).toEqual({ cell: 2, created: false });
  });

  it('gives nodes a database that they accept only with its cell', async () => {
    await started(cells.second.url, '2');
    await expect(started(cells.second.url)).rejects.toThrow('this database is cell 2, but CELL is 0');
    await expect(started(cells.first.url, '2')).rejects.toThrow('this database is cell 0, but CELL is 2');
    await started(cells.first.url, '0');
  });

  it('refuses a database that is in use, and another master key', async () => {
    const used = await cells.inFirstOnly('cell', 'init', '--like', cells.second.url, '--cell', '3');
    expect(used.stderr).toMatch(/is cell 0 and in use/);
    const other = await freshDatabase();
    const key = Buffer.alloc(32, 7).toString('base64');
    const ran = await cells.run(['cell', 'init', '--like', cells.first.url, '--cell', '3'], {
      DATABASE_URL: other.url,
      MASTER_KEY: key,
    });
    await other.close();
    expect(ran.stderr).toMatch(/MASTER_KEY is not the key of this database/);
  });

  it('a range that reaches into another cell keeps a node from starting', async () => {
    await cells.second.database.query('alter sequence event_numbers maxvalue 900000000000000');
    await expect(started(cells.second.url, '2')).rejects.toThrow(
      'the sequence event_numbers may give out numbers of another cell',
    );
    await cells.second.database.query('alter sequence event_numbers maxvalue 102999999999999');
    await started(cells.second.url, '2');
  });
});
