import { beforeAll, describe, expect, it } from 'vitest';
import { jsonOf, twoCells } from './support.js';

const cells = twoCells();
const product = (code: string, cents = '100') => [
  ...['product', 'create', code, '--name', code, '--mode', 'CHANNEL_COLLECT', '--period-type', 'DAY'],
  ...['--cycles', '7', '--amount-cent', cents],
];
const bridge = ['--name', 'Bank', '--gateway', 'bridge', '--gateway-url', 'https://bridge.example', '--banks', '*'];
const drift = async () => JSON.parse((await cells.inFirst('cell', 'drift', '--json')).stdout).items;

beforeAll(async () => {
  await jsonOf(cells.inFirstOnly(...product('P1'), '--json'));
  await jsonOf(cells.init('--json'));
  cells.writeFile();
});

describe('--cells all', () => {
  it('changes every cell, and prints a result for each', async () => {
    const { items } = await jsonOf(cells.inFirst(...product('P2'), '--cells', 'all', '--json'));
    expect(items).toMatchObject([
      { cell: 0, error: null, result: { productCode: 'P2' } },
      { cell: 2, error: null, result: { productCode: 'P2' } },
    ]);
    expect(await drift()).toEqual([]);
  });

  it('a new key of a bridge is the same in every cell', async () => {
    for (const args of [
      ['payment-channel', 'create', 'BANK', ...bridge],
      ['payment-channel', 'reset-key', 'BANK'],
    ]) {
      const { items } = await jsonOf(cells.inFirst(...args, '--cells', 'all', '--json'));
      expect(items[0].result.gatewayKey).toBeTruthy();
      expect(items[1].result.gatewayKey).toBe(items[0].result.gatewayKey);
      expect(await drift()).toEqual([]);
    }
  });

  it('a cell that refuses a change does not stop the others', async () => {
    await jsonOf(cells.inFirstOnly(...product('P3'), '--json'));
    const ran = await cells.inFirst(...product('P3'), '--cells', 'all');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/Cell 0: FAILED: .*P3/);
    expect(ran.stdout).toMatch(/Cell 2\n/);
    expect(await drift()).toEqual([]);
  });

  it('begins only if all cells can be reached', async () => {
    const gone = Object.assign(new URL(cells.second.url), { pathname: '/no_such_database' });
    cells.writeFile({ 2: { database: gone.href } });
    const ran = await cells.inFirst(...product('P4'), '--cells', 'all');
    cells.writeFile();
    expect(ran.stderr).toMatch(/cell 2: .*there is no database of that name/);
    expect(await cells.first.database.query(`select from products where product_code = 'P4'`)).toEqual([]);
  });
});

describe('cell drift', () => {
  it('names records that a cell lacks or has in another form', async () => {
    await jsonOf(cells.inSecondOnly(...product('ONLY_2'), '--json'));
    await jsonOf(cells.inFirstOnly(...product('OTHER', '100'), '--json'));
    await jsonOf(cells.inSecondOnly(...product('OTHER', '200'), '--json'));
    await jsonOf(cells.inSecondOnly('payment-channel', 'reset-key', 'BANK', '--json'));
    expect(await drift()).toEqual([
      { record: 'keys of bridges: BANK', missingIn: [], differsIn: [2] },
      { record: 'products ONLY_2', missingIn: [0], differsIn: [] },
      { record: 'products OTHER', missingIn: [], differsIn: [2] },
    ]);
  });
});
