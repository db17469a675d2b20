import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../cli/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { SQUARE, svg } from '../pictures/samples.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofFile(freshDatabase);
const line = commandLine(() => fresh);
const folder = line.dataDir;

const run = (...args: string[]) => line.run('benefit', ...args);
const text = (...args: string[]) => line.text('benefit', ...args);
const json = (...args: string[]) => line.json('benefit', ...args);
const file = async (name: string, text: string) => {
  const full = path.join(folder, name);
  await writeFile(full, text);
  return full;
};

describe('perennial benefit', () => {
  it('sets a pool, imports codes and shows the number left', async () => {
    expect(await text('set-fulfilment', 'COUPON', '--kind', 'pool')).toMatch(/^Kind +POOL$/m);
    expect(await text('set-fulfilment', 'COUPON', '--kind', 'pool')).toContain('Nothing changed.');
    const codes = await file('codes.csv', '\ufeffcode\r\n"A-1"\r\n\r\nA-2\r\nA-1\r\n');
    const imported = await text('import-codes', 'COUPON', codes);
    expect(imported).toMatch(/^Imported +2$/m);
    expect(imported).toMatch(/^Repeated in the file +1$/m);
    expect(imported).not.toContain('A-1');
    expect(await json('import-codes', 'COUPON', codes)).toMatchObject({ imported: 0, knownBefore: 2, codesLeft: 2 });
    expect(await json('show', 'COUPON')).toEqual({
      benefitCode: 'COUPON',
      name: null,
      kind: 'POOL',
      supplierUrl: null,
      products: [],
      codesLeft: 2,
      hasPool: true,
      lowStock: null,
      waitingClaims: 0,
      waitingSince: null,
      presentation: { icon: null, nameZh: null, nameEn: null, descriptionZh: null, descriptionEn: null, useUrl: null },
    });
    expect((await json('list')).items).toHaveLength(1);
    expect(await text('list')).toMatch(/COUPON +POOL/);
  });

  it('sets the low-stock threshold', async () => {
    expect(await text('set-low-stock', 'COUPON', '500')).toBe(
      'low stock of COUPON: an alert when fewer than 500 codes are left\n',
    );
    expect(await text('show', 'COUPON')).toMatch(/^Low stock +an alert when fewer than 500 codes are left$/m);
    expect(await json('set-low-stock', 'COUPON', '500')).toMatchObject({ lowStock: 500, changed: false });
    expect(await text('set-low-stock', 'COUPON', 'none')).toBe('low stock of COUPON: no alert\n');
  });

  it('withdraws the oldest codes, at most all that are left', async () => {
    await run('set-fulfilment', 'RESTORED', '--kind', 'pool');
    await run('import-codes', 'RESTORED', await file('restored.txt', 'R-1\nR-2\nR-3'));
    expect(await text('withdraw-codes', 'RESTORED', '2')).toMatch(/^withdrew 2 codes\n(?:.*\n)*Codes left +1$/m);
    expect(await json('withdraw-codes', 'RESTORED', '2')).toMatchObject({ withdrawn: 1, codesLeft: 0 });
    const again = await json('import-codes', 'RESTORED', path.join(folder, 'restored.txt'));
    expect(again).toMatchObject({ imported: 0, knownBefore: 3, codesLeft: 0 });
  });

  it('sets the presentation of a benefit', async () => {
    const icon = await file('icon.svg', svg(SQUARE).toString());
    const set = ['set-presentation', 'COUPON', '--icon', icon, '--zh', '满减券', '--en', 'Money off'];
    expect(await text(...set)).toMatch(
      /^Icon +[0-9a-f]{64}\.svg \(\d+ bytes\)\nIn Chinese +满减券\nIn English +Money off$/m,
    );
    expect(await text(...set)).toContain('Nothing changed.');
    expect(await text('list')).toMatch(/^COUPON .* icon, zh, en$/m);
    const back = ['--icon', 'none', '--zh', 'none', '--use-url', 'https://shop.example/use'];
    expect(await json('set-presentation', 'COUPON', ...back)).toMatchObject({
      presentation: { icon: null, descriptionZh: null, descriptionEn: 'Money off', useUrl: 'https://shop.example/use' },
      changed: true,
    });
  });

  it('sets a supplier with the key from a file', async () => {
    const keyFile = await file('supplier.key', `${randomBytes(32).toString('base64')}\n`);
    const url = ['--url', 'https://supplier.example/codes'];
    expect(await json('set-fulfilment', 'VIP', '--kind', 'supplier', ...url, '--key-file', keyFile)).toMatchObject({
      kind: 'SUPPLIER',
      supplierUrl: url[1],
      changed: true,
    });
    const codes = await file('plain.txt', 'B-1\nB-2');
    expect(await text('import-codes', 'VIP', codes)).toContain('VIP does not take its codes from the pool.');
  });

  it('reports errors in one line', async () => {
    const bad = await file('bad.csv', 'A\nB\u0001\n');
    const badKey = await file('bad.key', 'short');
    const refusals: [string[], string][] = [
      [['set-low-stock', 'COUPON', '0'], 'the number of codes must be a whole number from 1 to 10000000, not 0'],
      [['set-low-stock', 'COUPON', 'few'], 'It must be a whole number.'],
      [['import-codes', 'COUPON', bad], 'line 2 of the codes: the code holds control characters'],
      [['import-codes', 'COUPON', path.join(folder, 'none')], 'the codes cannot be read: ENOENT'],
      [['import-codes', 'COUPON', folder], 'the codes cannot be read: EISDIR'],
      [['set-fulfilment', 'X', '--kind', 'supplier'], 'a supplier needs an address and a key'],
      [['set-fulfilment', 'X', '--kind', 'supplier', '--key-file', badKey], 'must hold 32 bytes in base64'],
      [['set-fulfilment', 'X', '--kind', 'supplier', '--key-file', path.join(folder, 'none')], 'there is no file'],
      [['set-fulfilment', 'X', '--kind', 'magic'], 'the kind must be'],
      [['set-presentation', 'COUPON'], 'there is nothing to change; give at least one value'],
      [['set-presentation', 'COUPON', '--icon', bad], 'the file is neither a PNG nor an SVG in UTF-8'],
      [['set-presentation', 'COUPON', '--icon', path.join(folder, 'gone')], 'the picture cannot be read: ENOENT'],
      [['set-presentation', 'NONE', '--en', 'x'], 'there is no benefit "NONE"'],
      [['show', 'NONE'], 'there is no benefit "NONE"'],
    ];
    for (const [args, why] of refusals) {
      const { code, stderr } = await run(...args);
      expect(code, args.join(' ')).toBe(1);
      expect(stderr).toContain(why);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});
