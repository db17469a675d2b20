import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { StatementLine } from '../../src/gateways/gateway.js';
import { readSettings } from '../../src/platform/settings.js';
import { withoutOtherCells } from '../../src/reconciliation/statement.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-cells-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, 'cells.json');
const read = (text: string) => {
  writeFileSync(file, text);
  return readSettings({ CELLS_FILE: file }).cells;
};

describe('CELLS_FILE', () => {
  it('lists the cells by number', () => {
    const cells = [
      { cell: 2, database: 'postgres://ann:secret@db/cell_2', url: 'https://two.example/' },
      { cell: 0, console: 'https://console.example/console' },
    ];
    expect(read(JSON.stringify(cells))).toEqual([cells[1], { ...cells[0], url: 'https://two.example' }]);
  });

  it.each([
    ['no JSON', '{', /cannot be read: it is not JSON/],
    ['an empty list', '[]', /must be a JSON list of cells/],
    ['a cell without a number', '[{}]', /must have a "cell" from 0 to 88/],
    ['a cell beyond the last', '[{"cell":89}]', /must have a "cell" from 0 to 88/],
    ['a cell twice', '[{"cell":1},{"cell":1}]', /has cell 1 twice/],
    ['an unknown field', '[{"cell":1,"host":"db"}]', /has the unknown field "host" in cell 1/],
    [
      'a URL of another kind',
      '[{"cell":1,"database":"https://ann:secret@db"}]',
      /must have a URL as "database" of cell 1/,
    ],
  ])('is refused if it has %s, without its passwords', (_what, text, why) => {
    expect(() => read(text)).toThrow(why);
    expect(() => read(text)).not.toThrow(/secret/);
  });
});

it('reconciliation leaves out lines of other cells, and keeps those that no cell can have', async () => {
  const line = (kind: StatementLine['kind'], number: string) => ({ at: 1, line: { kind, number } as StatementLine });
  async function* lines() {
    yield line('debit', '100000001000000101'); // cell 0
    yield line('debit', '102100000001000000101'); // cell 2
    yield line('refund', 'R102100000001000000101');
    yield line('debit', '105100000001000000101'); // cell 5, which is not listed
    yield line('debit', 'not-a-number');
  }
  const kept: string[] = [];
  for await (const one of withoutOtherCells(lines(), [{ cell: 0 }, { cell: 2 }], 0)) kept.push(one.line.number);
  expect(kept).toEqual(['100000001000000101', '105100000001000000101', 'not-a-number']);
});
