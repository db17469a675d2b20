import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../docs/pages.js';
import { KEY, temporaryFolder } from '../institution/support.js';
import { freePort } from '../support/free-port.js';
import { BadBridge } from './bad-bridge.js';

const run = promisify(execFile);
const ONE_CENT = path.join(ROOT, 'examples/bridge/one-cent.mjs');

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function oneCent(...args: readonly string[]): Promise<Ran> {
  const ran = run(process.execPath, [ONE_CENT, ...args]).then((output) => ({ code: 0, ...output }));
  const { code, stdout, stderr } = await ran.catch((failed: Ran) => failed);
  return { code, stdout, stderr };
}

it('debits and refunds one cent, and reports errors in one line', async () => {
  const bridge = new BadBridge(KEY);
  await bridge.start();
  onTestFinished(() => bridge.stop());
  const folder = await temporaryFolder();
  const [keyFile, otherKey, noKey] = ['key', 'other', 'short'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(keyFile, KEY.toString('base64'));
  await writeFile(otherKey, Buffer.alloc(32, 8).toString('base64'));
  await writeFile(noKey, 'short');
  const closed = `http://127.0.0.1:${await freePort()}`;

  const good = await oneCent(`${bridge.url}/`, keyFile, 'GOOD', '2');
  expect(good).toMatchObject({ code: 0, stderr: '' });
  expect(good.stdout).toMatch(/^debits 2 cents on GOOD as (T\w+), asks until .* refunds it as R\w+\n.*"\1".*\n.*\n/);
  expect(good.stdout).toMatch(/\ndebited and given back\n$/);
  expect(await oneCent('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('moves real money') });

  bridge.sins.add('signs no answer');
  const lost = await oneCent(bridge.url, keyFile, 'GOOD');
  expect(lost).toMatchObject({ code: 1, stderr: expect.stringMatching(/^.* What became of T\w+ is not known: .*\n$/) });
  bridge.sins.clear();

  const failures: [args: string[], code: number, says: RegExp][] = [
    [[closed, keyFile, 'GOOD'], 1, /^nothing answers at http:\S+\/debit: ECONNREFUSED$/],
    [[bridge.url, otherKey, 'GOOD'], 1, /^\/debit: HTTP 401, the bridge does not take this key/],
    [[bridge.url, keyFile, 'POOR'], 1, /^not debited$/],
    [[bridge.url, path.join(folder, 'none'), 'GOOD'], 2, /^the key file \S+none cannot be read: ENOENT$/],
    [[bridge.url, noKey, 'GOOD'], 2, /short must hold 32 bytes in base64$/],
    [[bridge.url, keyFile, 'GOOD', 'abc'], 2, /^cents must be a whole number of at least 1: abc$/],
    [['bank', keyFile, 'GOOD'], 2, /^URL must start with http/],
    [[bridge.url, keyFile], 2, /^usage: node \S+one-cent.mjs URL KEY_FILE AGREEMENT/],
  ];
  const ran = await Promise.all(failures.map(([args]) => oneCent(...args)));
  for (const [at, [, code, says]] of failures.entries()) {
    const lines = ran[at]?.stderr.trimEnd().replace('one-cent: ', '').split('\n');
    expect({ code: ran[at]?.code, lines }).toEqual({ code, lines: [expect.stringMatching(says)] });
    expect(ran[at]?.stdout.startsWith('debits 1 cent on ')).toBe(code === 1);
  }
});
