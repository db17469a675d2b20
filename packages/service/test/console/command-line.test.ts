import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BIN, perennial } from '../cli/perennial.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { MAIN, type Running, serviceUrl, start } from '../support/processes.js';
import { ask, PASSWORD } from './support.js';

let fresh: FreshDatabase;
let settings: Record<string, string>;
let dataDir: string;
let running: Running | undefined;
beforeEach(async () => {
  fresh = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-people-'));
  settings = { DATABASE_URL: fresh.url, DATA_DIR: dataDir, MASTER_KEY: randomBytes(32).toString('base64') };
});
afterEach(async () => {
  running?.child.kill('SIGTERM');
  await running?.exited;
  running = undefined;
  await fresh.close();
  await rm(dataDir, { recursive: true, force: true });
});

const run = (...args: readonly string[]) => perennial(args, settings);

describe('npx perennial operator', () => {
  it('create shows a link under the address of the console, once', async () => {
    settings['PUBLIC_URL'] = 'https://pay.example';
    const made = await run('operator', 'create', 'ann', '--role', 'admin');
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/https:\/\/pay\.example\/console\/setup#[\w-]{32}\n$/);
    const listed = await run('operator', 'list');
    expect(listed.stdout).toMatch(/ann\s+admin\s+ACTIVE\s+not set yet/);
    expect(listed.stdout).not.toContain('setup');
  });

  it('reset, set-role, disable and enable change it, and the audit log says so', async () => {
    for (const name of ['ann', 'bo']) await run('operator', 'create', name, '--role', 'admin');
    expect((await run('operator', 'set-role', 'bo', '--role', 'viewer')).stdout).toMatch(/role\s+viewer/);
    expect((await run('operator', 'disable', 'bo')).stdout).toMatch(/status\s+DISABLED/);
    expect((await run('operator', 'enable', 'bo')).stdout).toMatch(/status\s+ACTIVE/);
    expect((await run('operator', 'reset', 'bo')).stdout).toContain('/console/setup#');
    const audit = JSON.parse((await run('audit', 'list', '--subject', 'bo', '--json')).stdout);
    expect(audit.items.map(({ action }: { action: string }) => action)).toEqual([
      'person.reset',
      'person.enable',
      'person.disable',
      'person.set-role',
      'person.create',
    ]);
  });

  it.each([
    [['create', 'ann', '--role', 'king'], 'the role must be viewer or support or finance or admin, not "king"'],
    [['disable', 'nobody'], 'there is no person "nobody"'],
    [['disable', 'root'], 'root is the only admin; make somebody else one first'],
  ])('%j is refused in one line', async (args, why) => {
    await run('operator', 'create', 'root', '--role', 'admin');
    const refused = await run('operator', ...args);
    expect(refused).toEqual({ code: 1, stdout: '', stderr: `perennial: ${why}\n` });
  });
});

describe('npx perennial audit verify', () => {
  it('says that all fit, or where it is broken, with the exit code of it', async () => {
    for (const name of ['ann', 'bo', 'chen']) await run('operator', 'create', name, '--role', 'viewer');
    const whole = await run('audit', 'verify');
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining('all fit')]);
    await fresh.database.query(`update audit_log set actor = 'nobody' where chain_no = 2`);
    const broken = await run('audit', 'verify');
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('broken at number 2')]);
  });
});

describe('a service', () => {
  it('says how to sign in, and with CONSOLE_PORT has its console there alone', async () => {
    running = start(MAIN, { ...settings, PORT: '0', CONSOLE_PORT: '0', LOG_LEVEL: 'silent' });
    const interfaceUrl = await serviceUrl(running);
    const banner = running.stderr();
    const consoleUrl = /Console\s+(\S+)\/console\n/.exec(banner)?.[1] ?? '';
    expect(consoleUrl).not.toBe(interfaceUrl);
    expect(banner).toContain('npx perennial operator create NAME --role admin');
    const create = spawn(process.execPath, [BIN, 'operator', 'create', 'ann', '--role', 'admin', '--password-stdin'], {
      env: { PATH: process.env['PATH'], ...settings },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    create.stdin?.end(`${PASSWORD}\n`);
    expect((await once(create, 'exit'))[0]).toBe(0);
    expect((await fetch(`${interfaceUrl}/console`)).status).toBe(404);
    expect((await fetch(`${consoleUrl}/console`)).status).toBe(200);
    const signedIn = await ask(consoleUrl, 'POST', '/session', { body: { name: 'ann', password: PASSWORD } });
    expect([signedIn.status, signedIn.body.role]).toEqual([200, 'admin']);
    expect(signedIn.headers.get('set-cookie')).toMatch(/^perennial=/);
  });
});
