import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAULTS } from '@perennial/reference-peers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Running, start, until } from '../support/processes.js';
import { debitOf, gatewayTo, ledgerOf, temporaryFolder } from './support.js';

const COMMAND = fileURLToPath(new URL('institution-command.mjs', import.meta.url));

function institution(...args: string[]): Running {
  const running = start(COMMAND, {}, ['institution', ...args]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  return running;
}

async function address(running: Running): Promise<string> {
  return until('an institution that serves', () => {
    if (running.child.exitCode !== null) throw new Error(`it ended: ${running.stderr()}`);
    return running.stderr().match(/Bridge\s+(http\S+)/)?.[1];
  });
}

async function keyIn(file: string): Promise<Buffer> {
  return Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
}

describe('perennial institution', () => {
  it('makes its key, shows the table of faults, debits, and ends with Ctrl-C', async () => {
    const folder = await temporaryFolder();
    const dataDir = path.join(folder, 'new', 'folder');
    const running = institution('--port', '0', '--data-dir', dataDir, '--control');
    const url = await address(running);
    const keyFile = path.join(dataDir, 'bridge.key');
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    const gateway = gatewayTo(url, { key: await keyIn(keyFile) });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect((await ledgerOf({ url })).debits).toHaveLength(1);
    await until('the whole banner', () => running.stderr().includes('last four'));
    for (const { tail, name } of FAULTS) expect(running.stderr()).toMatch(new RegExp(`${tail} +${name} `));
    expect(running.stderr()).not.toContain((await keyIn(keyFile)).toString('base64'));
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(0);

    const again = institution('--port', '0', '--data-dir', dataDir);
    const second = gatewayTo(await address(again), { key: await keyIn(keyFile) });
    expect(await second.queryDebit(debitOf('1'))).toMatchObject({ kind: 'success' });
    again.child.kill('SIGTERM');
    expect(await again.exited).toBe(0);
  });

  it('says in one line what keeps it from starting', async () => {
    const folder = await temporaryFolder();
    const badKey = path.join(folder, 'bad.key');
    await writeFile(badKey, 'short');
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const data = ['--data-dir', path.join(folder, 'data')];
    const refusals: [string[], RegExp][] = [
      [[...data, '--key-file', badKey], /bad\.key must hold 32 bytes in base64/],
      [[...data, '--port', String(port)], /cannot listen: .*EADDRINUSE.*--port/],
      [[...data, '--port', '70000'], /--port must be/],
      [[...data, '--notice-url', 'nowhere'], /notice address must/],
      [['--data-dir', badKey], /./],
    ];
    for (const [args, expected] of refusals) {
      const running = institution(...args);
      expect(await running.exited).toBe(1);
      expect(running.stderr()).toMatch(expected);
      expect(running.stderr().trim().split('\n')).toHaveLength(1);
    }
  });
});
