import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startBank } from '../../../../examples/bridge/bank.mjs';
import { ROOT } from '../docs/pages.js';
import { KEY, temporaryFolder } from '../institution/support.js';
import { freshDatabase } from '../support/database.js';
import { freePort } from '../support/free-port.js';
import { cardFile, checkBridge, restarter } from './support.js';

it('the example bridge keeps every rule', async () => {
  const folder = await temporaryFolder();
  const database = await freshDatabase({ migrated: false });
  onTestFinished(() => database.close());
  const bank = await startBank({ token: 'secret', waitMs: 300 });
  onTestFinished(() => bank.stop());
  const [port, noticePort] = [await freePort(), await freePort()];
  const noticeUrl = `http://127.0.0.1:${noticePort}/gateway/v1/notices/BANK`;
  const keyFile = path.join(folder, 'key');
  await writeFile(keyFile, KEY.toString('base64'));
  let bridge: ChildProcess | undefined;
  const start = async () => {
    bridge = spawn(process.execPath, [path.join(ROOT, 'examples/bridge/bank-bridge.mjs')], {
      env: {
        PATH: process.env['PATH'],
        ...{ BANK_URL: bank.url, BANK_TOKEN: 'secret', BRIDGE_KEY_FILE: keyFile, DATABASE_URL: database.url },
        ...{ PORT: String(port), MONITORING_PORT: '0', NOTICE_URL: noticeUrl },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const lines of bridge.stdout as AsyncIterable<Buffer>) if (lines.includes('"ready"')) break;
  };
  const kill = async () => {
    bridge?.kill('SIGKILL');
    if (bridge) await once(bridge, 'exit');
  };
  await start();
  onTestFinished(kill);
  bank.sendWebhooksTo(`http://127.0.0.1:${port}/webhooks`);
  const restart = await restarter(async () => {
    await kill();
    await start();
  });

  const checked = await checkBridge(
    `http://127.0.0.1:${port}`,
    ...['--agreement', 'M-1', '--declines', 'RETRYABLE=M-POOR', '--declines', 'FINAL=M-BLOCKED'],
    ...['--declines', 'AGREEMENT_INVALID=M-ENDED', '--pending', 'M-SLOW', '--foreign', 'M-FOREIGN'],
    ...['--cancel-agreement', 'M-2', '--card-file', await cardFile(), '--sms-code', '1234', '--wrong-sms-code', '1'],
    ...['--listen', String(noticePort), '--restart', restart],
  );
  expect(checked.rules.filter(({ verdict }) => verdict !== 'holds')).toEqual([]);
  expect(checked).toMatchObject({ code: 0, left: [] });

  const statusOfNoJson = async (url: string, headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', headers, body: 'no JSON' })).status;
  expect(await statusOfNoJson(`${bank.url}/payments`, { authorization: 'Bearer secret' })).toBe(400);
  const signature = createHmac('sha256', 'secret').update('no JSON').digest('hex');
  expect(await statusOfNoJson(`http://127.0.0.1:${port}/webhooks`, { 'bank-signature': signature })).toBe(400);
});
