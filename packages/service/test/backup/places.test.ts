import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listSequences, listTables } from '../../src/platform/copies/tables-sql.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { perennial } from '../cli/perennial.js';
import { dump } from '../operator/support.js';
import { type FreshDatabase, freshDatabase, lockWaits } from '../support/database.js';
import { COMMAND_LINE, MAIN, serviceUrl, start, until } from '../support/processes.js';

/** Databases that a copy is taken from or put into, in every state that one may be found in. */
const MASTER_KEY = randomBytes(32).toString('base64');
let folder: string;
let source: FreshDatabase;
let file: string;
let target: FreshDatabase;

const on = ({ url }: FreshDatabase) => ({ DATABASE_URL: url, MASTER_KEY, DATA_DIR: path.join(folder, 'data') });

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-places-'));
  file = path.join(folder, 'backup.gz');
  source = await freshDatabase();
  const made = await perennial(['channel', 'create', '--name', 'Kept', '--app-id', 'test_kept'], on(source));
  expect(made.code, made.stderr).toBe(0);
  expect((await perennial(['backup', file], on(source))).code).toBe(0);
});
afterAll(async () => {
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  target = await freshDatabase();
});
afterEach(() => target.close());

/** Without the tables that a target usually has, and that take longer to make than the rest of a restore. */
async function emptyTarget(): Promise<void> {
  await target.close();
  target = await freshDatabase({ migrated: false });
}

const restore = (...more: string[]) => perennial(['restore', file, ...more], on(target));

/** Another copy, whose lines are changed. */
async function changed(change: (lines: string[]) => string[]): Promise<string> {
  const lines = gunzipSync(await readFile(file))
    .toString()
    .trimEnd()
    .split('\n');
  const other = path.join(folder, `${randomBytes(4).toString('hex')}.gz`);
  await writeFile(other, gzipSync(`${change(lines).join('\n')}\n`));
  return other;
}

/** Somebody who holds a table, until they are told to let go. */
async function holding(database: Database, table: string, mode: string): Promise<() => Promise<void>> {
  let letGo: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let held: () => void = () => undefined;
  const isHeld = new Promise<void>((resolve) => {
    held = resolve;
  });
  const done = database.transaction(async (tx) => {
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    await tx.query(`lock table ${table} in ${mode} mode`);
    held();
    await told;
  });
  await Promise.race([isHeld, done]);
  return async () => {
    letGo();
    await done;
  };
}

describe('restore, beside nodes', () => {
  it('into an empty database whose schema a node waits for: refused, and nothing is made', async () => {
    await emptyTarget();
    const node = start(MAIN, { ...on(target), MIGRATE: 'never', PORT: '0' });
    try {
      await until('a node that waits', () => /waiting for that/.test(node.stderr()));
      expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining('nodes are running') });
      expect(await dump(target.database)).toBe('');
    } finally {
      node.child.kill('SIGTERM');
      await node.exited;
    }
    expect((await restore()).code).toBe(0);
  });

  it('a node that is started meanwhile waits for the tables, and the restore gives way to it', async () => {
    expect((await perennial(['migrate'], on(target))).code).toBe(0);
    await target.database.query('delete from installation');
    const letGo = await holding(target.database, 'unsubscribe_tries', 'access share');
    const restoring = restore();
    await until('a restore that holds the other tables', async () => (await lockWaits(target.database)) > 0);
    const node = start(MAIN, { ...on(target), PORT: '0' });
    try {
      await until('a node that waits', () => {
        if (node.child.exitCode !== null) throw new Error(`the node ended: ${node.stderr()}`);
        return node.stderr().includes('somebody else holds tables of the database (55P03); waiting for that');
      });
      await letGo();
      expect(await restoring).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('started meanwhile; no row was changed'),
      });
      await serviceUrl(node);
      expect(await target.database.query(`select from channels where app_id = 'test_kept'`)).toEqual([]);
    } finally {
      await letGo();
      node.child.kill('SIGTERM');
      expect(await node.exited).toBe(0);
    }
  });
});

describe('restore-check', () => {
  const check = (...more: string[]) => perennial(['restore-check', ...more], on(target));
  const nothing = { code: 1, stdout: 'NOT OK: there is nothing in this database\n' };

  it('of a database without a schema: NOT OK, and makes none', async () => {
    await emptyTarget();
    expect(await check()).toMatchObject(nothing);
    expect(JSON.parse((await check('--json')).stdout).problems).toEqual(['there is nothing in this database']);
    expect(await dump(target.database)).toBe('');
  });

  it('of a schema without rows, as a refused restore leaves it: NOT OK, and the restore can be done again', async () => {
    await emptyTarget();
    const cut = await changed((lines) => lines.slice(0, -3));
    expect((await perennial(['restore', cut], on(target))).code).toBe(1);
    const before = await dump(target.database);
    expect(await check()).toMatchObject(nothing);
    expect(await dump(target.database)).toBe(before);
    expect(await restore()).toMatchObject({ code: 0 });
    expect(await check()).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nOK: [^\n]*\n$/) });
  });

  it('of an installation that nothing was done with: NOT OK', async () => {
    expect((await perennial(['migrate'], on(target))).code).toBe(0);
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\nNOT OK: there is nothing in this/),
    });
  });

  it('without a master key: makes none', async () => {
    const data = path.join(folder, 'no-key');
    const ran = await perennial(['restore-check'], { DATABASE_URL: target.url, DATA_DIR: data });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no master key in') });
    expect(await readdir(folder)).not.toContain('no-key');
  });

  it('tells what waits in the order of the list, however the database goes about it', async () => {
    expect((await restore()).code).toBe(0);
    for (const setting of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']) {
      await target.database.query(
        `do $$ begin execute format('alter database %I set ${setting} = 0', current_database()); end $$`,
      );
    }
    const { waiting } = JSON.parse((await check('--json')).stdout);
    expect(waiting.map(({ what }: { what: string }) => what)).toEqual([
      'renewals to debit',
      'of these, overdue for more than a day',
      'periods to bill',
      'of these, overdue for more than a day',
      'debits without a result',
      'refunds without a result',
      'claims without a code',
      'agreements to cancel',
      'requests without an answer',
      'events to send',
      'alert messages to send',
    ]);
  });
});

describe('numbers skip', () => {
  it('counts from what the rows hold, once, though sequences are behind, also that of the audit log', async () => {
    expect((await restore()).code).toBe(0);
    await target.database.query(
      `insert into events (event_no, channel_id, order_no, event_type, occurred_at, data)
       values (5000000, 1, 1, 'order.status.changed', now(), '{}')`,
    );
    await target.database.query('alter sequence event_numbers restart');
    await target.database.query('alter sequence audit_log_audit_id_seq restart');
    const ran = await perennial(['numbers', 'skip'], on(target));
    expect(ran.code, ran.stderr).toBe(0);
    for (const name of ['event_numbers', 'audit_log_audit_id_seq']) {
      expect(ran.stdout).toContain(`The sequence ${name} was behind the numbers that are used, and is above them now.`);
    }
    expect(ran.stdout).toMatch(/^event_numbers +5000000 +15000000$/m);
    expect(await target.database.query(`select nextval('event_numbers') as next`)).toEqual([{ next: 15_000_001 }]);
    const [audit] = await target.database.query<{ action: string }>(
      'select action from audit_log order by audit_id desc limit 1',
    );
    expect(audit?.action).toBe('numbers.skip');
  });

  it('a copy of a database whose sequences are behind can be restored all the same', async () => {
    const behind = await changed((lines) =>
      lines.map((line) =>
        line.replace(/("name":"audit_log_audit_id_seq","lastValue":)"\d+","isCalled":true/, '$1"1","isCalled":false'),
      ),
    );
    const ran = await perennial(['restore', behind], on(target));
    expect(ran.code, ran.stderr).toBe(0);
  });
});

describe('what somebody else keeps in the same schema', () => {
  const OTHERS = `
    create table dba_notes (id bigint generated always as identity primary key, note text);
    create sequence dba_numbers;
    insert into dba_notes (note) values ('mine');`;

  it('is not what a copy is of: the tables and sequences of the migrations are, all of them', async () => {
    const { database } = source;
    const all = await database.query<{ name: string; kind: string }>(
      `select relname as name, relkind::text as kind from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S') and not relispartition
         and relname <> 'schema_migrations' order by relname`,
    );
    const named = (kinds: string) => all.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
    expect((await listTables(database)).map(({ name }) => name).toSorted()).toEqual(named('rp').toSorted());
    expect((await listSequences(database)).map(({ name }) => name).toSorted()).toEqual(named('S').toSorted());
  });

  it('stays out of a backup, also where the service may not read it', async () => {
    const role = `test_${randomBytes(6).toString('hex')}`;
    const noted = await freshDatabase({ migrated: false });
    const copy = path.join(folder, 'noted.gz');
    await noted.database.query(`create role ${role} login password 'test'`);
    try {
      await noted.database.query(`grant create on schema public to ${role}`);
      const url = new URL(noted.url);
      [url.username, url.password] = [role, 'test'];
      // The service is the role; what a superuser has put beside it is not the role's to read.
      const env = { ...on(noted), DATABASE_URL: url.href };
      expect((await perennial(['restore', file], env)).code).toBe(0);
      await noted.database.query(OTHERS);
      const made = await perennial(['backup', copy], env);
      expect(made.code, made.stderr).toBe(0);
      expect(gunzipSync(await readFile(copy)).toString()).not.toContain('dba_');
      expect((await perennial(['restore-check'], env)).code).toBe(0);
      expect((await perennial(['restore', copy], on(target))).code).toBe(0);
    } finally {
      await noted.database.query(`drop owned by ${role}`);
      await noted.database.query(`drop role ${role}`);
      await noted.close();
    }
  });

  it('stays as it is when a copy is put in place of the rest', async () => {
    await target.database.query(OTHERS);
    expect((await restore()).code).toBe(0);
    expect((await restore('--replace')).code).toBe(0);
    expect(await target.database.query('select note from dba_notes')).toEqual([{ note: 'mine' }]);
  });
});

describe('all or nothing', () => {
  it('a restore that fails at its end has moved no sequence', async () => {
    expect((await restore()).code).toBe(0);
    await target.database.query(`select setval('event_numbers', 77)`);
    const state = () => target.database.query('select last_value, is_called from event_numbers');
    const before = await state();
    const longer = await changed((lines) => [...lines, '{}']);
    expect((await perennial(['restore', longer, '--replace'], on(target))).code).toBe(1);
    expect(await state()).toEqual(before);

    // As late as it can fail: nodes are looked for when all is in place.
    const letGo = await holding(target.database, 'unsubscribe_tries', 'access share');
    const restoring = restore('--replace');
    await until('a restore that waits', async () => (await lockWaits(target.database)) > 0);
    const node = openDatabase({ url: target.url, pool: 1, name: 'perennial service' });
    await node.query('select');
    await letGo();
    expect(await restoring).toMatchObject({ code: 1, stderr: expect.stringContaining('started meanwhile') });
    await node.close();
    expect(await state()).toEqual(before);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('a backup that %s ends leaves no file', async (signal) => {
    const place = await mkdtemp(path.join(folder, 'ended-'));
    const letGo = await holding(source.database, 'orders', 'access exclusive');
    const backup = start(COMMAND_LINE, on(source), ['backup', path.join(place, 'copy.gz')]);
    await until('a file', async () => (await readdir(place)).length > 0);
    backup.child.kill(signal);
    await backup.exited;
    expect(backup.child.signalCode).toBe(signal);
    await letGo();
    expect(await readdir(place)).toEqual([]);
  });

  it('a folder is not a backup', async () => {
    expect(await perennial(['restore', folder], on(target))).toMatchObject({
      code: 1,
      stderr: `perennial: ${folder} is a folder: name a file that perennial backup has written\n`,
    });
  });
});
