import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { signedHeaders } from '@perennial/wire/bridge';
import { expect, it, onTestFinished } from 'vitest';
import { FAULTS } from '../src/institution/faults.js';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-peers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function run(name: string, ...args: readonly string[]) {
  const program = fileURLToPath(new URL(`../bin/perennial-${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return {
    child,
    stderr: () => stderr,
    ended: once(child, 'close').then(([code]) => code as number | null),
    async url(): Promise<string> {
      while (!stderr.includes('Control')) await once(child.stderr, 'data');
      return /http:\S+/.exec(stderr)?.[0] ?? '';
    },
  };
}

const keyIn = async (file: string) => Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');

async function ask(url: string, operation: string, fields: object, key: Uint8Array, idempotencyKey = '1') {
  const body = Buffer.from(JSON.stringify({ currency: 'CNY', appId: 'test_demo', ...fields }));
  const signed = signedHeaders({ path: `/${operation}`, body, now: Date.now(), requestId: '1' }, key);
  const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, ...signed };
  const response = await fetch(`${url}/${operation}`, { method: 'POST', body, headers });
  return response.json();
}

const DEBIT = {
  ...{ attemptNo: '1', institutionNo: 'SHARED-8888', amountCent: 1990, orderNo: '1', cycleNo: 1 },
  ...{ externalOrderNo: 'order-1', startedAt: 1_700_000_000_000 },
};

it('perennial-institution creates its key, lists the faults, debits, ends with Ctrl-C, and keeps its ledger after kill -9', async () => {
  const dataDir = path.join(await temporaryFolder(), 'new', 'folder');
  const options = ['--port', '0', '--data-dir', dataDir, '--control'];
  const first = run('institution', ...options);
  const url = await first.url();
  const keyFile = path.join(dataDir, 'bridge.key');
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  const key = await keyIn(keyFile);
  const debited = await ask(url, 'debit', DEBIT, key);
  expect(debited).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
  expect(await (await fetch(`${url}/ledger`)).json()).toMatchObject({ debits: [{ attemptNo: '1' }] });
  for (const { tail, name } of FAULTS) expect(first.stderr()).toMatch(new RegExp(`${tail} +${name} `));
  expect(first.stderr()).not.toContain(key.toString('base64'));
  first.child.kill('SIGKILL');
  await first.ended;

  const second = run('institution', ...options);
  expect(await ask(await second.url(), 'debit-query', { attemptNo: '1' }, key)).toEqual(debited);
  second.child.kill('SIGINT');
  expect(await second.ended).toBe(0);
});

it('perennial-supplier creates its key, issues codes, and ends with SIGTERM', async () => {
  const dataDir = await temporaryFolder();
  const running = run('supplier', '--port', '0', '--data-dir', dataDir);
  const key = await keyIn(path.join(dataDir, await running.url().then(() => 'supplier.key')));
  const claim = { claimNo: '1', benefitCode: 'VIP_PASS', faceValueCent: 1500, orderNo: '1', cycleNo: 1 };
  expect(await ask(await running.url(), 'fulfil', claim, key)).toMatchObject({ status: 'FULFILLED' });
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
});

it('the programs report in one line why they cannot start', async () => {
  const folder = await temporaryFolder();
  const badKey = path.join(folder, 'bad.key');
  await writeFile(badKey, 'short');
  const data = ['--data-dir', path.join(folder, 'data')];
  const refusals: [string, string[], RegExp][] = [
    ['institution', [...data, '--key-file', badKey], /bad\.key must hold 32 bytes in base64/],
    ['institution', [...data, '--notice-url', 'nowhere'], /notice address must/],
    ['institution', ['--no-such-option'], /no-such-option/],
    ['supplier', [...data, '--port', '70000'], /--port must be 0 to 65535/],
  ];
  for (const [name, args, expected] of refusals) {
    const running = run(name, ...args);
    expect(await running.ended).toBe(1);
    expect(running.stderr()).toMatch(expected);
    expect(running.stderr().trim().split('\n')).toHaveLength(1);
  }
});
