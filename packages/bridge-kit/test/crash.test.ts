import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, inject, it } from 'vitest';
import { startBank } from '../../../examples/bridge/bank.mjs';
import { ask, debitOf, KEY, NoticeTaker, questionOf, TestClock, until } from './support/world.js';

const PROGRAM = fileURLToPath(new URL('support/crash-node.mjs', import.meta.url));
const TAKEN_OVER_MS = 25_000;

let bridge: ChildProcess | undefined;
let folder = '';
afterEach(async () => {
  if (bridge !== undefined && bridge.exitCode === null && bridge.signalCode === null) {
    bridge.kill('SIGKILL');
    await once(bridge, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

it('killed at every point, a bridge has paid once for each number, and its notices arrive', async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-crash-'));
  const bank = await startBank({ token: 'secret', waitMs: 0 });
  const clock = new TestClock();
  const taker = new NoticeTaker(clock);
  await taker.start();
  await writeFile(path.join(folder, 'key'), KEY.toString('base64'));
  let url = '';
  let kills = 0;
  const start = async () => {
    const env = {
      PATH: process.env['PATH'],
      ...{ BANK_URL: bank.url, BANK_TOKEN: 'secret', KILLS: folder, AHEAD: String(clock.ahead) },
      ...{ BRIDGE_KEY_FILE: path.join(folder, 'key'), DATABASE_URL: inject('bookUrl'), DATABASE_SCHEMA: schema },
      ...{ NOTICE_URL: taker.url, PORT: '0', MONITORING_PORT: '0' },
    };
    bridge = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: bridge.stdout as NodeJS.ReadableStream });
    for await (const line of lines) {
      const { msg, url: opened } = JSON.parse(line);
      if (msg === 'ready') {
        url = opened;
        bank.sendWebhooksTo(`${url}/webhooks`);
        break;
      }
    }
    bridge.stdout?.resume();
  };
  /** Retries like the service, at whichever process of the bridge is running. */
  const insist = (operation: string, body: object) =>
    until(`${operation} ${JSON.stringify(body)}`, async () => {
      const running = bridge;
      try {
        const { fields } = await ask(url, operation, body, { now: clock.now() });
        if (fields['status'] === 'NOT_FOUND') return false;
        return fields['status'] === 'SUCCESS';
      } catch {
        if (running?.exitCode === null && running.signalCode === null) await once(running, 'exit');
        kills += 1;
        clock.ahead += TAKEN_OVER_MS;
        await start();
        return false;
      }
    });

  const schema = `book_${randomBytes(6).toString('hex')}`;
  await start();
  const points = ['book-written', 'institution-called', 'result-written'];
  for (const point of points) {
    await insist('debit', debitOf(`D-KILL-${point}`));
    await insist('refund', { refundNo: `R-KILL-${point}`, attemptNo: `D-KILL-${point}`, amountCent: 1990 });
  }
  // The result arrives by webhook. The bridge dies after sending the notice, and the next process sends it again.
  await ask(url, 'debit', debitOf('D-SLOW', { institutionNo: 'M-SLOW' }), { now: clock.now() });
  await insist('debit-query', questionOf('D-SLOW'));
  await until('the notice', async () => {
    if (taker.taken.length > 1) return true;
    if (bridge?.signalCode === 'SIGKILL') {
      kills += 1;
      clock.ahead += TAKEN_OVER_MS;
      await start();
    }
    return false;
  });
  expect(taker.taken[0]).toEqual(taker.taken[1]);
  expect(kills).toBe(7);
  const booked = bank.bookings.map(({ reference }) => reference);
  expect(booked.toSorted()).toEqual(
    [...points.flatMap((point) => [`D-KILL-${point}`, `R-KILL-${point}`]), 'D-SLOW'].toSorted(),
  );
  await taker.stop();
  await bank.stop();
});
