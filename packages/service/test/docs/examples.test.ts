import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './pages.js';

const run = promisify(execFile);

/** Examples of a first call, with their interpreters. */
const FIRST_CALLS = [
  { file: 'first-call.mjs', command: process.execPath },
  { file: 'first_call.py', command: 'python3' },
  { file: 'first-call.sh', command: 'sh' },
] as const;

/** A minimal environment: the service uses its defaults, and calls to this machine bypass proxies. */
const ENV = { PATH: process.env['PATH'] ?? '', HOME: os.homedir(), no_proxy: '127.0.0.1' };

let folder = '';
let service: ChildProcess | undefined;
const demoChannel = () => path.join(folder, 'demo-channel.json');

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-examples-'));
  service = await startService(folder);
});

afterAll(async () => {
  if (service && service.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

const runExample = (command: string, file: string, channel: string) =>
  run(command, [path.join(ROOT, 'examples', file), channel], { env: ENV });

describe.each(FIRST_CALLS)('examples/$file', ({ file, command }) => {
  it('prints the signed text and the products of the channel, but neither the secret nor the token', async () => {
    const { stdout, stderr } = await runExample(command, file, demoChannel());
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /Signed text\n {2}POST\n {2}\/openapi\/v1\/auth\/token\n {2}\(empty\)\n {2}[0-9a-f]{64}\n {2}\d{13}\n/,
    );
    expect(stdout).toMatch(/Signed text\n {2}POST\n {2}\/openapi\/v1\/products\/list\n/);
    expect(stdout.match(/^Answer, HTTP 200$/gm)).toHaveLength(2);
    const [, products = ''] = stdout.split('Products of this channel:\n');
    expect([...products.matchAll(/^ {2}(\w+)/gm)].map(([, code]) => code)).toEqual([
      'TEST_SPU_001',
      'TEST_SPU_DAILY_7',
      'TEST_SPU_ONCE',
    ]);
    const { appSecret } = JSON.parse(await readFile(demoChannel(), 'utf8'));
    expect(stdout).not.toContain(appSecret);
    expect(stdout).toMatch(/"accessToken": ?"[\w-]{8}\.\.\."/);
  });
});

describe('examples/subscriptions.mjs', () => {
  it('creates an order in each of the three ways, shows its state, and prints no secret', async () => {
    const { stdout, stderr } = await runExample(process.execPath, 'subscriptions.mjs', demoChannel());
    expect(stderr).toBe('');
    const calls = callsIn(stdout);
    expect(calls.map(({ endpoint }) => endpoint)).toEqual([
      'auth/token',
      'products/list',
      'agreements/bind-sms',
      'agreements/bind-confirm',
      ...['orders/create', 'orders/query'], // A.1
      ...['orders/create', 'orders/query'], // A.2
      ...['orders/create', 'orders/query'], // B
      'orders/create', // sent again
      'orders/list',
      'payments/query',
      'orders/unsubscribe',
    ]);
    for (const { endpoint, shown } of calls) expect(shown['code'], endpoint).toMatch(/^0 success/);
    expect(calls[2]?.shown['binding']).toMatch(/^\d+ BIND_ING, SEND_SUCCESS$/);
    expect(calls[3]?.shown['agreement']).toMatch(/^AG\d+ BIND_SUCCESS$/);
    for (const [index, paid] of [
      [4, 'SUCCESS'],
      [5, 'SUCCESS'],
      [6, 'SUCCESS'],
      [7, 'SUCCESS'],
      [8, 'BILLED'],
      [9, 'BILLED'],
    ] as const) {
      const shown = calls[index]?.shown ?? {};
      expect(shown['order']).toMatch(/^\d+ ACTIVE$/);
      expect(shown['period 1']).toMatch(new RegExp(`^\\d+0001 ${paid}$`));
      expect(shown['later']).toBe('11 x WAIT');
      expect(shown['redeemUrl']).toMatch(
        /^http:\/\/127\.0\.0\.1:\d+\/redeem\?orderNo=\d+&appId=test_demo&.*&sig=[\w-]{43}$/,
      );
    }
    expect(calls[12]?.shown['period']).toMatch(/^\d+0001 SUCCESS, paid \d{4}-/);
    expect(calls[13]?.shown).toMatchObject({
      order: calls[4]?.shown['order']?.replace('ACTIVE', 'UNSUBSCRIBED'),
      'period 1': calls[4]?.shown['period 1'],
      later: '11 x CANCELED',
      next: 'nothing',
      redeemUrl: 'none',
    });
    // The resent request is the only one that gets a replayed answer.
    const [first, again] = [calls[8]?.shown, calls[10]?.shown];
    expect(again).toEqual({ ...first, code: '0 success, Idempotency-Replayed: true' });
    expect(calls.filter(({ shown }) => shown['code']?.includes('Replayed'))).toHaveLength(1);
    const { appSecret, aesKey, callbackSecret } = JSON.parse(await readFile(demoChannel(), 'utf8'));
    for (const secret of [appSecret, aesKey, callbackSecret]) expect(stdout).not.toContain(secret);
    expect(stdout).not.toContain('accessToken');
    expect(stdout).not.toMatch(/svc_aes_v\d:[^"]{20}/);
  });
});

describe('examples/a-year.mjs', () => {
  it('advances two orders by a year and prints every period', async () => {
    const { stdout, stderr } = await runExample(process.execPath, 'a-year.mjs', demoChannel());
    expect(stderr).toBe('');
    const [, paid = '', recovers = '', ends = ''] = stdout.split(/^[A-Z].*\n/m);
    const statusesIn = (text: string) => [...text.matchAll(/^ {2}period \d+ +(\w+) /gm)].map(([, status]) => status);
    expect(statusesIn(paid)).toEqual(Array.from({ length: 12 }, () => 'SUCCESS'));
    expect(paid).toMatch(/order {6}\d+ COMPLETED, 238\.80 paid\n/);
    expect(statusesIn(recovers)).toEqual(['FAIL_RETRY', 'FAIL_RETRY', 'SUCCESS']);
    const canceled = Array.from({ length: 7 }, () => 'CANCELED');
    expect(statusesIn(ends)).toEqual(['SUCCESS', 'SUCCESS', 'FAIL', 'SUCCESS', 'FAIL', ...canceled]);
    expect(ends).toMatch(/order {6}\d+ UNSUBSCRIBED, 59\.70 paid\n/);
  });
});

describe('examples/receiver.mjs', () => {
  const perennial = (...args: string[]) =>
    run(process.execPath, [path.join(ROOT, 'packages/service/bin/perennial.js'), ...args, '--json'], {
      env: { ...ENV, DATA_DIR: folder },
    }).then(({ stdout }) => JSON.parse(stdout));

  it('receives the events of new orders in sequence, and recognises a replayed one', async () => {
    const { lines, stop } = await receiver();
    try {
      const url = (await lines.next()).value?.replace(/^listening +/, '');
      await perennial('channel', 'set-callback', 'test_demo', url);
      const { stdout } = await runExample(process.execPath, 'subscriptions.mjs', demoChannel());
      const orderNo = callsIn(stdout)[4]?.shown['order']?.split(' ')[0] ?? '';
      // The unsubscribed order has fourteen events: its first payment, two statuses of the order, and eleven voided
      // periods.
      const received: string[] = [];
      while (received.length < 14) {
        const line: string = (await lines.next()).value;
        expect(line).toMatch(/^event {5}\d/);
        if (line.includes(`order ${orderNo}`)) received.push(line);
      }
      const [first = '', second] = received;
      expect(first).toMatch(/payment\.status\.changed .* period 1 SUCCESS$/);
      expect(second).toMatch(/order\.status\.changed .* ACTIVE$/);
      expect(received[2]).toMatch(/ UNSUBSCRIBED$/);
      expect(received[3]).toMatch(/ period 2 CANCELED$/);
      const [, eventId = ''] = first.split(/ +/);
      expect(await perennial('events', 'replay', 'test_demo', eventId)).toEqual({ replayed: 1 });
      let again: string = '';
      while (!again.startsWith('again')) again = (await lines.next()).value;
      expect(again).toBe(`again     ${eventId}, retryNo 1: it was dealt with`);
    } finally {
      await stop();
    }
  });

  async function receiver() {
    const child = spawn(process.execPath, [path.join(ROOT, 'examples/receiver.mjs'), demoChannel(), '0'], {
      env: ENV,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const stop = async () => {
      child.kill();
      await once(child, 'exit');
    };
    return { lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), stop };
  }
});

const MORE = ['subscriptions.mjs', 'a-year.mjs', 'receiver.mjs', 'first-order.mjs'].map((file) => ({
  file,
  command: process.execPath,
}));

describe.each([...FIRST_CALLS, ...MORE])('examples/$file without its file or service', ({ file, command }) => {
  const name = path.parse(file).name;
  const example = (channel: string) => runExample(command, file, channel);

  it('reads the file in DATA_DIR, if none is named', async () => {
    const without = run(command, [path.join(ROOT, 'examples', file)], { env: { ...ENV, DATA_DIR: '/nowhere' } });
    await expect(without).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${name}: /nowhere/demo-channel\\.json cannot be read: .*\n$`)),
    });
  });

  it('says in one line that the file is missing', async () => {
    const missing = path.join(folder, 'nowhere.json');
    await expect(example(missing)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${name}: .*nowhere\\.json cannot be read: npm start writes it.*\n$`)),
    });
  });

  // The receiver listens, and calls nothing.
  it.skipIf(file === 'receiver.mjs')('says in one line that the service is not running', async () => {
    const stopped = path.join(folder, `stopped-${file}.json`);
    const channel = JSON.parse(await readFile(demoChannel(), 'utf8'));
    // Nothing listens on port 1.
    await writeFile(stopped, JSON.stringify({ ...channel, baseUrl: 'http://127.0.0.1:1' }, undefined, 2));
    await expect(example(stopped)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^${name}: nothing answers at http://127\\.0\\.0\\.1:1: start the service with npm start\n$`),
      ),
    });
  });
});

/** Returns the calls that an example printed, each with names and values. Of a repeated name the last value wins. */
function callsIn(text: string): { endpoint: string; shown: Record<string, string> }[] {
  return [...text.matchAll(/^([a-z-]+\/[a-z-]+) \{.*\n((?: {2}.*\n)*)/gm)].map(([, endpoint = '', lines = '']) => ({
    endpoint,
    shown: Object.fromEntries(
      [...lines.matchAll(/^ {2}(.{10}) (.*)$/gm)].map(([, name = '', value = '']) => [name.trim(), value]),
    ),
  }));
}

/** Starts the service with defaults on a free port. Its address is in the demo channel's file. */
async function startService(dataDir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(ROOT, 'packages/service/dist/program/main.js')], {
    env: { ...ENV, DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const output: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.startsWith('Perennial is ready')) {
      child.stderr.resume();
      return child;
    }
    output.push(line);
  }
  throw new Error(`the service did not start: ${output.join('\n')}`);
}
