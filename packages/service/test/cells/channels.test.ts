import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { jsonOf, twoCells } from './support.js';

const cells = twoCells();
const channel = (appId: string) => ['channel', 'create', '--app-id', appId, '--name', appId];

beforeAll(async () => {
  await jsonOf(cells.inFirstOnly(...channel('test_one'), '--json'));
  await jsonOf(cells.init('--json'));
  await jsonOf(cells.inSecondOnly(...channel('test_two'), '--json'));
  cells.writeFile();
});

describe('commands over all cells', () => {
  it('cell list shows each cell, and no password', async () => {
    const ran = await cells.inFirst('cell', 'list');
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toMatch(/^0 .* 1 +0 +\d+ MB +0\.0 %/m);
    expect(ran.stdout).toMatch(/^2 .* 1 +0 +\d+ MB +0\.0 %/m);
    expect(ran.stdout).not.toContain(new URL(cells.first.url).password);
  });

  it('cell of names the cell of a channel', async () => {
    expect(await jsonOf(cells.inFirst('cell', 'of', 'test_two', '--json'))).toEqual({ appId: 'test_two', cell: 2 });
    expect(await cells.inFirst('cell', 'of', 'test_one')).toMatchObject({ stdout: 'test_one is in cell 0\n' });
    expect(await cells.inFirst('cell', 'of', 'test_none')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no channel/),
    });
  });

  it('cell map writes haproxy’s map', async () => {
    const file = path.join(cells.folder, 'cells.map');
    expect(await cells.inFirst('cell', 'map', '--output', file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe('test_one cell_0\ntest_two cell_2\n');
    expect((await cells.inFirst('cell', 'map')).stdout).toBe('test_one cell_0\ntest_two cell_2\n');
  });

  it('an app id in two cells is refused', async () => {
    await jsonOf(cells.inSecondOnly(...channel('test_one'), '--json'));
    for (const command of [['map'], ['of', 'test_one']]) {
      const ran = await cells.inFirst('cell', ...command);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/"test_one" is in the cells 0 and 2.*: suspend the channel/);
    }
  });

  it('a suspended channel without orders leaves its app id to another cell', async () => {
    expect(await cells.inSecondOnly('channel', 'suspend', 'test_one')).toMatchObject({ code: 0 });
    expect((await cells.inFirst('cell', 'map')).stdout).toBe('test_one cell_0\ntest_two cell_2\n');
    expect((await cells.inFirst('cell', 'of', 'test_one')).stdout).toBe('test_one is in cell 0\n');
  });

  it('a cell that cannot be read is listed, and stops a map', async () => {
    const gone = new URL(cells.second.url);
    gone.pathname = '/no_such_database';
    cells.writeFile({ 2: { database: gone.href } });
    const listed = await cells.inFirst('cell', 'list');
    expect(listed.code).toBe(1);
    expect(listed.stdout).toMatch(/^2 .*there is no database of that name/m);
    expect((await cells.inFirst('cell', 'map')).stderr).toMatch(/cell 2: .*there is no database of that name/);
    cells.writeFile({ 2: { database: cells.first.url } });
    expect((await cells.inFirst('cell', 'map')).stderr).toMatch(/this database is cell 0, but CELL is 2/);
  });
});
