import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readMigrations } from '../../src/platform/schema/migration-file.js';
import { readSettings } from '../../src/platform/settings.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { MAIN, serviceUrl, start, until } from '../support/processes.js';

/** Adds a contract migration while `isThere` is true, because the schema may have none. */
const contract = { isThere: false };
// Test files share their modules, so the modules are loaded anew with the added migration.
vi.resetModules();
vi.doMock('../../src/platform/schema/migration-file.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/platform/schema/migration-file.js')>();
  const added = original.parseMigration('000999_contract.sql', '-- Contract: changes nothing.\nselect 1;');
  return {
    ...original,
    readMigrations: async () => [...(await original.readMigrations()), ...(contract.isThere ? [added] : [])],
  };
});
const { openDatabaseFromSettings } = await import('../../src/platform/installation/open-database.js');
const { perennial } = await import('./perennial.js');
afterAll(() => {
  vi.doUnmock('../../src/platform/schema/migration-file.js');
  vi.resetModules();
});

const fresh = ofEachTest(() => freshDatabase({ migrated: false }));
let dataDir: string;
let production: Record<string, string>;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-migrate-'));
  production = {
    SVC_ENVIRONMENT: 'production',
    DATABASE_URL: fresh.url,
    MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
    PUBLIC_URL: 'https://subscriptions.example',
    DATA_DIR: dataDir,
  };
});
afterEach(async () => {
  contract.isThere = false;
  await rm(dataDir, { recursive: true, force: true });
});

describe('perennial migrate', () => {
  it('creates the schema of a new database, prints what it did, and then finds no migration missing', async () => {
    const migrations = await readMigrations();
    const last = migrations.at(-1)?.version;
    const made = await perennial(['migrate'], production);
    expect(made).toMatchObject({
      code: 0,
      stdout: `migrations applied: ${migrations.length}; the schema is at ${last}\n`,
    });
    expect(made.stderr).toContain(`applied ${migrations[0]?.name}\n`);
    const again = await perennial(['migrate', '--json'], production);
    expect(JSON.parse(again.stdout)).toEqual({ version: last, applied: [], waiting: [] });
    // The database belongs to production now.
    const astray = await perennial(['migrate'], { DATABASE_URL: fresh.url, DATA_DIR: dataDir });
    expect(astray).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to the production environment') });
  });

  it('--status lists every migration with its state; a contract migration is left for --contract, and is named', async () => {
    const before = await perennial(['migrate', '--status', '--json'], production);
    const { items } = JSON.parse(before.stdout);
    expect(items[0]).toEqual({ name: '000100_baseline.sql', kind: 'expand', state: 'missing', appliedAt: null });
    expect(await fresh.database.query(`select to_regclass('schema_migrations') as there`)).toEqual([{ there: null }]);
    await perennial(['migrate'], production);
    contract.isThere = true;
    const after = await perennial(['migrate', '--status'], production);
    expect(after.stdout).toMatch(/^MIGRATION +KIND +STATE +APPLIED AT\n000100_baseline\.sql +expand +applied +\d{4}-/);
    expect(after.stdout).toMatch(/000999_contract\.sql +contract +missing\n/);
    expect(await perennial(['migrate', '--status', '--contract'], production)).toMatchObject({ code: 1 });
    // Without --contract, the contract migration is not run.
    expect((await perennial(['migrate'], production)).stdout).toMatch(
      /no migration was missing; .*; 000999_contract\.sql waits for --contract; run it once no older node runs\n$/,
    );
  });
});

describe('in production only migrate changes the schema', () => {
  it('another command reports the missing migrations in one line', async () => {
    const refused = await perennial(['channel', 'list'], production);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^perennial: the schema lacks 000100_baseline\.sql.*: run perennial migrate\n$/);
    const asked = await perennial(['channel', 'list'], { ...production, MIGRATE: 'auto' });
    expect(asked).toMatchObject({ code: 1, stderr: refused.stderr });
  });

  it('a node waits for the migration, and then starts', async () => {
    const node = start(MAIN, { ...production, PORT: '0', DRAIN_SECONDS: '0' });
    await until('it waits', () => /the schema lacks .*: run perennial migrate; waiting for that/.test(node.stderr()));
    expect((await perennial(['migrate'], production)).code).toBe(0);
    await serviceUrl(node);
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(0);
  });

  it('unless MIGRATE=auto is set', async () => {
    const node = start(MAIN, { ...production, PORT: '0', DRAIN_SECONDS: '0', MIGRATE: 'auto' });
    await serviceUrl(node);
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(0);
  });

  it('a node starts before a contract migration, and logs that it waits', async () => {
    await perennial(['migrate'], production);
    contract.isThere = true;
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const opened = await openDatabaseFromSettings(readSettings(production), { role: 'service', log });
    await opened.close();
    expect(lines).toContain('000999_contract.sql waits for: perennial migrate --contract');
  });
});
