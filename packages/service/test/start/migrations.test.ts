import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.js';
import { migrate } from '../../src/db/migrate.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { packageRoot } from '../support/processes.js';

let fresh: FreshDatabase;
let folder: string;
beforeEach(async () => {
  fresh = await freshDatabase({ migrated: false });
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-migrations-'));
});
afterEach(async () => {
  await fresh.close();
  await rm(folder, { recursive: true, force: true });
});

const write = (name: string, sql: string) => writeFile(path.join(folder, name), sql);
const run = () => migrate(fresh.database, pathToFileURL(`${folder}/`));
const versions = async () =>
  (await fresh.database.query<{ version: number }>('select version from schema_migrations order by 1')).map(
    (row) => row.version,
  );

describe('migrations', () => {
  it('ten nodes that start at once: one does the work, all find it done', async () => {
    const nodes = Array.from({ length: 10 }, () => openDatabase({ url: fresh.url, pool: 1, name: 'node' }));
    const results = await Promise.all(nodes.map((node) => migrate(node)));
    expect(results.filter((result) => result.applied > 0)).toHaveLength(1);
    expect(await fresh.database.query('select * from channels')).toEqual([]);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('apply in the order of their numbers, each once', async () => {
    await write('000002_second.sql', 'insert into t values (2);');
    await write('000001_first.sql', 'create table t (n integer);');
    expect(await run()).toEqual({ version: 2, applied: 2 });
    await write('000003_third.sql', 'insert into t values (3);');
    expect(await run()).toEqual({ version: 3, applied: 1 });
    expect(await run()).toEqual({ version: 3, applied: 0 });
    expect(await fresh.database.query('select n from t order by 1')).toEqual([{ n: 2 }, { n: 3 }]);
  });

  it('numbers may be missing: 000012 is, and stays so', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await write('000003_third.sql', 'insert into t values (3);');
    expect(await run()).toEqual({ version: 3, applied: 2 });
    expect(await run()).toEqual({ version: 3, applied: 0 });
    const names = await readdir(path.join(packageRoot, 'migrations'));
    expect(names.filter((name) => name.startsWith('000012'))).toEqual([]);
  });

  it('a failing one leaves nothing behind, and the mended one is applied', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await run();
    await write('000002_second.sql', 'insert into t values (2); select 1/0;');
    await expect(run()).rejects.toThrow(/division by zero/);
    expect(await versions()).toEqual([1]);
    expect(await fresh.database.query('select n from t')).toEqual([]);
    await write('000002_second.sql', 'insert into t values (2);');
    expect(await run()).toEqual({ version: 2, applied: 1 });
  });

  it('an applied one that was edited is refused', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await run();
    await write('000001_first.sql', 'create table t (n bigint);');
    await expect(run()).rejects.toThrow(/000001_first\.sql.*never edited/);
  });
});
