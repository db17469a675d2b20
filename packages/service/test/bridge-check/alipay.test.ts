import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { startBridge } from '@perennial/bridge-kit';
import { pino } from 'pino';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { ALIPAY_PUBLIC_KEY, APP_ID, APP_PRIVATE_KEY, FakeAlipay } from '../../../bridge-alipay/test/fake-alipay.js';
import { ROOT } from '../docs/pages.js';
import { KEY, temporaryFolder } from '../institution/support.js';
import { freshDatabase } from '../support/database.js';
import { freePort } from '../support/free-port.js';
import { checkBridge } from './support.js';

// The SDK's HTTP client replaces `destroy` for every socket of the process. Other tests share the process, so `destroy`
// is restored after these tests.
const { destroy } = Socket.prototype;
const { createAlipayInstitution } = await import('@perennial/bridge-alipay');
afterAll(() => {
  Socket.prototype.destroy = destroy;
});

const run = promisify(execFile);
const ONE_CENT = path.join(ROOT, 'examples/bridge/one-cent.mjs');
/** A generous timeout, because checker, bridge and Alipay share one process on a busy machine. */
const PATIENCE_MS = 60_000;
const PATIENCE = ['--deadline', String(PATIENCE_MS)];
const DAY_MS = 24 * 3_600_000;

/** Alipay has no bill of today, so the bridge's clock is a day ahead. */
const tomorrow = { now: () => Date.now() + DAY_MS };

it('the bridge to Alipay passes every rule that can be tested, over a fake of Alipay', async () => {
  const fresh = await freshDatabase();
  const fake = await new FakeAlipay({ callersNow: tomorrow.now }).start();
  const [port, noticePort] = [await freePort(), await freePort()];
  fake.on('POOR', { decline: 'ACQ.BUYER_BALANCE_NOT_ENOUGH' });
  fake.on('LARGE', { decline: 'ACQ.CYCLE_PAY_SINGLE_FEE_EXCEED' });
  fake.on('ENDED', { decline: 'ACQ.AGREEMENT_NOT_EXIST' });
  fake.on('SLOW', 'pay-when-asked');
  const bridge = await startBridge({
    institution: createAlipayInstitution({
      appId: APP_ID,
      privateKey: APP_PRIVATE_KEY,
      alipayPublicKey: ALIPAY_PUBLIC_KEY,
      endpoint: fake.url,
      subject: 'Films',
      clock: tomorrow,
      notifyUrl: `http://127.0.0.1:${port}/webhooks`,
    }),
    key: KEY,
    databaseUrl: fresh.url,
    serviceNoticeUrl: `http://127.0.0.1:${noticePort}/gateway/v1/notices/ALIPAY`,
    port,
    monitoringPort: 0,
    callMs: PATIENCE_MS,
    idleMs: 50,
    log: pino({ level: 'silent' }),
  });
  onTestFinished(async () => {
    await bridge.stop();
    await fake.stop();
    await fresh.close();
  });

  const given = ['--agreement', 'GOOD', '--cancel-agreement', 'ENDING', '--pending', 'SLOW'];
  const declines = ['RETRYABLE=POOR', 'FINAL=LARGE', 'AGREEMENT_INVALID=ENDED'].flatMap((one) => ['--declines', one]);
  const checked = await checkBridge(bridge.url, ...given, ...declines, '--listen', String(noticePort), ...PATIENCE);
  expect(checked.rules.filter(({ verdict }) => verdict === 'broken')).toEqual([]);
  expect([checked.left, checked.useless, checked.code]).toEqual([[], [], 0]);
  // These rules are not tested, because agreements are signed in Alipay's app, which does not know channels, and
  // because the test cannot restart this bridge.
  expect(checked.untried.toSorted()).toEqual([
    'bind-code',
    'bind-confirm',
    'bind-repeated',
    'bind-wrong-code',
    'foreign-agreement',
    'restart',
  ]);

  // Follows the procedure of docs/bridges.md for a real account.
  const keyFile = path.join(await temporaryFolder(), 'bridge.key');
  await writeFile(keyFile, KEY.toString('base64'));
  const tryOneCent = (agreement: string) => run(process.execPath, [ONE_CENT, bridge.url, keyFile, agreement]);
  expect((await tryOneCent('GOOD')).stdout).toMatch(/"SUCCESS"[\s\S]*"SUCCESS"[\s\S]*\ndebited and given back\n$/);
  expect([...fake.trades.values()].at(-1)).toMatchObject({ cents: 1, status: 'TRADE_CLOSED' });
  await expect(tryOneCent('POOR')).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('RETRYABLE') });
  for (const [number, times] of fake.payments) expect([number, times]).toEqual([number, 1]);
}, 120_000);
