import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BIN, perennial } from '../cli/perennial.js';
import { commandLine } from '../cli/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { MAIN, serviceUrl, start } from '../support/processes.js';
import { ask, PASSWORD } from './support.js';

const fresh = ofFile(freshDatabase);
const { run, text, json, settings } = commandLine(() => fresh, { MASTER_KEY: randomBytes(32).toString('base64') });
beforeEach(async () => {
  await fresh.database.query('truncate people, audit_log, audit_seals, audit_checkpoint cascade');
  await fresh.database.query(`update audit_head set chain_no = 0, chain = ''`);
});

describe('perennial operator', () => {
  it("create shows a link below the console's URL, once", async () => {
    const reached = { ...settings(), PUBLIC_URL: 'https://pay.example' };
    const made = await perennial(['operator', 'create', 'ann', '--role', 'admin'], reached);
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/https:\/\/pay\.example\/console\/setup#[\w-]{32}\n$/);
    const listed = await text('operator', 'list');
    expect(listed).toMatch(/ann\s+admin\s+ACTIVE\s+not set yet/);
    expect(listed).not.toContain('setup');
  });

  it('reset, set-role, disable and enable change an operator, and write the audit log', async () => {
    for (const name of ['ann', 'bo']) await run('operator', 'create', name, '--role', 'admin');
    expect(await text('operator', 'set-role', 'bo', '--role', 'viewer')).toMatch(/role\s+viewer/);
    expect(await text('operator', 'disable', 'bo')).toMatch(/status\s+DISABLED/);
    expect(await text('operator', 'enable', 'bo')).toMatch(/status\s+ACTIVE/);
    expect(await text('operator', 'reset', 'bo')).toContain('/console/setup#');
    const audit = await json('audit', 'list', '--subject', 'bo');
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
    [['disable', 'root'], 'root is the only admin; make another operator admin first'],
  ])('%j is refused in one line', async (args, why) => {
    await run('operator', 'create', 'root', '--role', 'admin');
    const refused = await run('operator', ...args);
    expect(refused).toEqual({ code: 1, stdout: '', stderr: `perennial: ${why}\n` });
  });
});

describe('perennial audit verify', () => {
  it('reports that no entry was changed, or where the chain breaks, with exit code 1', async () => {
    for (const name of ['ann', 'bo', 'chen']) await run('operator', 'create', name, '--role', 'viewer');
    const whole = await run('audit', 'verify');
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining('no entry was changed or removed')]);
    await fresh.database.query(`update audit_log set actor = 'nobody' where chain_no = 2`);
    const broken = await run('audit', 'verify', '--all');
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('broken at number 2')]);
  });

  it('--head compares the log with a file of audit head, which never overwrites a file', async () => {
    await run('operator', 'create', 'ann', '--role', 'viewer');
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-head-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'head.json');
    expect(await text('audit', 'head', '--output', file)).toMatch(/last number\s+1\n/);
    expect((await run('audit', 'head', '--output', file)).stderr).toContain('the file cannot be written: EEXIST');
    await run('operator', 'create', 'bo', '--role', 'viewer');
    expect((await run('audit', 'verify', '--head', file)).code).toBe(0);
    await fresh.database.query(`truncate audit_log, audit_seals, audit_checkpoint;
      update audit_head set chain_no = 0, chain = ''`);
    expect((await run('audit', 'verify')).code).toBe(0);
    const truncated = await run('audit', 'verify', '--head', file);
    expect([truncated.code, truncated.stdout]).toEqual([1, expect.stringContaining('broken at number 1')]);
    await fresh.database.query(`delete from look_up_keys where purpose = 'audit log'`);
    const foreign = await run('audit', 'verify', '--head', file);
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('not a head of this installation')]);
  });
});

describe('a service', () => {
  it('prints how to sign in, and with CONSOLE_PORT serves the console only there', async () => {
    const running = start(MAIN, { ...settings(), PORT: '0', CONSOLE_PORT: '0', LOG_LEVEL: 'silent' });
    onTestFinished(async () => {
      running.child.kill('SIGTERM');
      await running.exited;
    });
    const interfaceUrl = await serviceUrl(running);
    const banner = running.stderr();
    const consoleUrl = /Console\s+(\S+)\/console\n/.exec(banner)?.[1] ?? '';
    expect(consoleUrl).not.toBe(interfaceUrl);
    expect(banner).toContain(`cd ${process.cwd()} && npx perennial-server operator create NAME --role admin`);
    const create = spawn(process.execPath, [BIN, 'operator', 'create', 'ann', '--role', 'admin', '--password-stdin'], {
      env: { PATH: process.env['PATH'], ...settings() },
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
