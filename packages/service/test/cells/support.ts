import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Database } from '../../src/platform/db/database.js';
import { setCell } from '../../src/platform/installation/cell-sql.js';
import { perennial } from '../cli/perennial.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

/** Makes the database of a test service a cell, as `cell init` would. */
export async function becomeCell(database: Database, cell: number): Promise<void> {
  await database.query(
    `insert into installation (environment, master_key_check) values ('sandbox', 'test') on conflict do nothing`,
  );
  if (cell > 0) await database.transaction((tx) => setCell(tx, cell));
}

/** Two databases of one installation, cells 0 and 2, with a CELLS_FILE. The second is empty until `cell init`. */
export function twoCells() {
  const first = ofFile(() => freshDatabase());
  const second = ofFile(() => freshDatabase({ migrated: false }));
  const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-cells-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const key = randomBytes(32).toString('base64');
  const file = path.join(folder, 'cells.json');
  const settings = (more: Record<string, string> = {}) => ({ MASTER_KEY: key, DATA_DIR: folder, ...more });
  const run = (args: readonly string[], more: Record<string, string>) => perennial(args, settings(more));
  return {
    first,
    second,
    folder,
    settings,
    run,
    /** Runs a command in one cell, without CELLS_FILE. */
    inFirstOnly: (...args: readonly string[]) => run(args, { DATABASE_URL: first.url }),
    inSecondOnly: (...args: readonly string[]) => run(args, { DATABASE_URL: second.url }),
    /** Runs a command in a cell, with CELLS_FILE. */
    inFirst: (...args: readonly string[]) => run(args, { DATABASE_URL: first.url, CELLS_FILE: file }),
    inSecond: (...args: readonly string[]) => run(args, { DATABASE_URL: second.url, CELLS_FILE: file }),
    init: (...more: readonly string[]) =>
      run(['cell', 'init', '--like', first.url, '--cell', '2', ...more], { DATABASE_URL: second.url }),
    writeFile(more: Readonly<Record<number, object>> = {}) {
      const cells = [
        { cell: 0, database: first.url, ...more[0] },
        { cell: 2, database: second.url, ...more[2] },
      ];
      writeFileSync(file, JSON.stringify(cells));
      return file;
    },
  };
}

/** Expects a command to succeed, and returns its JSON. */
export async function jsonOf(ran: Promise<{ code: number | null; stdout: string; stderr: string }>) {
  const { code, stdout, stderr } = await ran;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}
