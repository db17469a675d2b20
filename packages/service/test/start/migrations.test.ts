import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MigrateOptions, migrate } from '../../src/platform/schema/migrate.js';
import { splitStatements } from '../../src/platform/schema/migration-file.js';
import { readSchema } from '../../src/platform/schema/schema-state.js';
import { gate } from '../agreements/support.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { until } from '../support/processes.js';

const fresh = ofEachTest(() => freshDatabase({ migrated: false }));
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-migrations-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, sql: string) => writeFile(path.join(folder, name), sql);
const remove = (name: string) => rm(path.join(folder, name));
const at = () => pathToFileURL(`${folder}/`);
const run = (options: MigrateOptions = {}) => migrate(fresh.url, { folder: at(), ...options });
const versions = async () =>
  (await fresh.database.query<{ version: number }>('select version from schema_migrations order by 1')).map(
    (row) => row.version,
  );
const indexes = async (table: string) =>
  fresh.database.query(
    `select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = to_regclass($1) order by 1`,
    [table],
  );

describe('migrations', () => {
  it('ten nodes that start at once: one migrates, all find it done', async () => {
    const results = await Promise.all(Array.from({ length: 10 }, () => migrate(fresh.url)));
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1);
    expect(await fresh.database.query('select * from channels')).toEqual([]);
  });

  it('apply in the order of their numbers, each once', async () => {
    await write('000002_second.sql', 'insert into t values (2);');
    await write('000001_first.sql', 'create table t (n integer);');
    expect(await run()).toEqual({ version: 2, applied: ['000001_first.sql', '000002_second.sql'] });
    await write('000003_third.sql', 'insert into t values (3);');
    expect(await run()).toEqual({ version: 3, applied: ['000003_third.sql'] });
    expect(await run()).toEqual({ version: 3, applied: [] });
    expect(await fresh.database.query('select n from t order by 1')).toEqual([{ n: 2 }, { n: 3 }]);
  });

  it('a failed migration is rolled back, and the corrected one is applied', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await run();
    await write('000002_second.sql', 'insert into t values (2); select 1/0;');
    await expect(run()).rejects.toThrow(/division by zero/);
    expect(await versions()).toEqual([1]);
    expect(await fresh.database.query('select n from t')).toEqual([]);
    await write('000002_second.sql', 'insert into t values (2);');
    expect(await run()).toMatchObject({ applied: ['000002_second.sql'] });
  });

  it('an applied migration that was edited is refused', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await run();
    await write('000001_first.sql', 'create table t (n bigint);');
    await expect(run()).rejects.toThrow(/000001_first\.sql.*never edited/);
  });

  it('a migration that waits for a table does not block others, and is applied later', async () => {
    await write('000001_first.sql', 'create table t (n integer);');
    await run();
    await write('000002_second.sql', 'alter table t add column m integer;');
    const held = gate();
    const reader = fresh.database.transaction(async (tx) => {
      await tx.query('select from t');
      await held.stand();
    });
    await held.reached;
    const migrating = run();
    await until('it has given up once', async () => {
      const [row] = await fresh.database.query<{ tries: number }>(
        `select count(*) as tries from pg_stat_activity where application_name = 'perennial migrate' and query = 'rollback'
           and datname = current_database()`,
      );
      return row?.tries === 1;
    });
    // If the migration were waiting for its table lock now, this read would have to wait too.
    expect(await fresh.database.query('select from t')).toEqual([]);
    held.open();
    await reader;
    expect(await migrating).toMatchObject({ applied: ['000002_second.sql'] });
  });
});

describe('the statements after the transaction of a migration', () => {
  it('are split at semicolons, without comments', () => {
    expect(
      splitStatements(`-- one; two
        select ';' ; -- three
        do $$ begin perform 1; end $$;
        create function f() as $body$ select 1; $body$;
        select 2 - 1, $1`),
    ).toEqual([
      "select ';'",
      'do $$ begin perform 1; end $$',
      'create function f() as $body$ select 1; $body$',
      'select 2 - 1, $1',
    ]);
  });

  it('are repeated after a failure, and the schema is not ready before', async () => {
    await write(
      '000001_first.sql',
      `create table t (n integer); create table ready (n integer);
       -- Afterwards:
       insert into t values (1); select 1/count(*) from ready;`.replace(/^ +/gm, ''),
    );
    await expect(run()).rejects.toThrow(/division by zero/);
    expect((await readSchema(fresh.database, at())).missing).toHaveLength(1);
    await fresh.database.query('insert into ready values (1)');
    expect(await run()).toMatchObject({ applied: ['000001_first.sql'] });
    expect((await readSchema(fresh.database, at())).missing).toEqual([]);
    // The table has two rows, because the statements under `-- Afterwards:` ran twice.
    expect(await fresh.database.query('select n from t')).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('build an index while others write, and rebuild a half-built one', async () => {
    await write('000001_first.sql', 'create table t (n integer); insert into t values (1), (1);');
    await run();
    const index = 'create unique index concurrently t_n on t (n)';
    await expect(fresh.database.query(index)).rejects.toThrow(/duplicate|could not create/);
    expect(await indexes('t')).toEqual([{ name: 't_n', valid: false }]);
    // The migration builds the index again after the failed build. The migration's first statement removes the
    // duplicate rows.
    await write(
      '000002_second.sql',
      `-- Afterwards:\ndelete from t a using t b where a.n = b.n and a.ctid > b.ctid;\n${index};`,
    );
    const held = gate();
    const writer = fresh.database.transaction(async (tx) => {
      await tx.query('insert into t values (2)');
      await held.stand();
    });
    await held.reached;
    const migrating = run();
    await until('the build waits for the writer', async () => {
      const [row] = await fresh.database.query<{ n: number }>(
        `select count(*) as n from pg_stat_activity where application_name = 'perennial migrate' and wait_event = 'virtualxid'
           and datname = current_database()`,
      );
      return row?.n === 1;
    });
    await fresh.database.query('insert into t values (3)');
    held.open();
    await writer;
    expect(await migrating).toMatchObject({ applied: ['000002_second.sql'] });
    expect(await indexes('t')).toEqual([{ name: 't_n', valid: true }]);
  });

  it('build the index of a partitioned table from its partitions, and continue after an interruption', async () => {
    await write(
      '000001_first.sql',
      `create table t (n integer) partition by range (n);
       create table t_1 partition of t for values from (0) to (10);
       create table t_2 partition of t for values from (10) to (20);
       insert into t values (1), (11), (11);`,
    );
    await run();
    await write(
      '000002_second.sql',
      '-- Afterwards:\nselect 1/(3 - count(*)) from t;\ncreate unique index concurrently t_n on t (n);',
    );
    // The state of an index build that was interrupted at the second partition.
    await fresh.database.query('create unique index t_n on only t (n)');
    await fresh.database.query('create unique index t_1_t_n on t_1 (n)');
    await fresh.database.query('alter index t_n attach partition t_1_t_n');
    await expect(fresh.database.query('create unique index concurrently t_2_t_n on t_2 (n)')).rejects.toThrow();
    await fresh.database.query('delete from t where n = 11');
    await fresh.database.query('create table t_3 partition of t for values from (20) to (30)');
    expect(await run()).toMatchObject({ applied: ['000002_second.sql'] });
    expect(await indexes('t')).toEqual([{ name: 't_n', valid: true }]);
    for (const week of ['t_1', 't_2', 't_3']) expect(await indexes(week)).toMatchObject([{ valid: true }]);
  });
});

describe('a contract', () => {
  beforeEach(async () => {
    await write('000001_first.sql', 'create table t (n integer, old integer);');
    await run();
    await write('000002_second.sql', '-- Contract: goes once nobody reads it.\nalter table t drop column old;');
    await write('000003_third.sql', 'alter table t add column m integer;');
  });

  it('waits for --contract, and blocks no other migration', async () => {
    expect(await run()).toEqual({ version: 3, applied: ['000003_third.sql'] });
    expect((await readSchema(fresh.database, at())).missingContracts).toMatchObject([{ version: 2 }]);
    expect(await run({ contract: true })).toEqual({ version: 3, applied: ['000002_second.sql'] });
    expect((await readSchema(fresh.database, at())).missingContracts).toEqual([]);
  });

  it('is applied in order to a database without a schema', async () => {
    const other = await freshDatabase({ migrated: false });
    expect((await migrate(other.url, { folder: at() })).applied).toHaveLength(3);
    await other.close();
  });

  it('locks out builds that do not know it; an expand migration does not', async () => {
    await run();
    await remove('000003_third.sql');
    expect((await readSchema(fresh.database, at())).missing).toEqual([]);
    await run({ contract: true });
    await remove('000002_second.sql');
    await expect(readSchema(fresh.database, at())).rejects.toThrow(
      /version 2, but this build only knows 1: start a newer build/,
    );
    await expect(run()).rejects.toThrow(/newer build/);
  });
});

describe('a database from before 1.0.0', () => {
  /** Replaces the records of migrations by those of a version before 1.0.0. */
  const setFormer = (last: number) =>
    fresh.database.query(
      `with gone as (delete from schema_migrations) insert into schema_migrations (version, name, sha256)
       select n, 'former', 'x' from generate_series(1, $1::integer) n where n not in (12, 15)`,
      [last],
    );
  beforeEach(async () => {
    await write('000100_baseline.sql', 'create table t (n integer);');
    await run();
  });

  it('has the schema of the baseline, which is recorded and not run', async () => {
    await setFormer(34);
    const lines: string[] = [];
    expect(await run({ log: (line) => lines.push(line) })).toEqual({ version: 100, applied: [] });
    expect(lines).toEqual(['recorded 000100_baseline.sql, because the database already has this schema']);
    await write('000101_next.sql', 'alter table t add column m integer;');
    expect(await run()).toEqual({ version: 101, applied: ['000101_next.sql'] });
    // The records of the former migrations stay, because nodes of that version look for them.
    expect((await versions()).slice(-3)).toEqual([34, 100, 101]);
  });

  it('is refused if it lacks some of the former migrations', async () => {
    await setFormer(33);
    await expect(run()).rejects.toThrow(/lacks its migrations 34: install the last version before 1\.0\.0/);
    expect((await versions()).at(-1)).toBe(33);
  });
});
