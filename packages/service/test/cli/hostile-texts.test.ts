import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel, sharedRequest, unique } from '../support/demo.js';
import { testService } from '../support/service.js';
import { whileAddressed } from '../webhooks/outcomes.js';
import { BIN } from './perennial.js';
import { commandLine } from './support.js';

/**
 * A text that clears the line, moves up, writes another status, reverses and hides the following text, and wraps a
 * line.
 */
const HOSTILE = `A\n\u001b[2K\u001b[1AStatus${' '.repeat(70)}COMPLETED\r\u009b31m\u202eKO\u2066\u200b\u2028\u007f`;
const MADE_VISIBLE =
  'A\\u{a}\\u{1b}[2K\\u{1b}[1AStatus ' +
  `${'\\u{20}'.repeat(69)}COMPLETED\\u{d}\\u{9b}31m\\u{202e}KO\\u{2066}\\u{200b}\\u{2028}\\u{7f}`;
/** A text that an operator can write: control characters are refused, but these direction marks are not. */
const TURNED = 'late \u202eyreviled\u202c';
/** Characters that a terminal does not print as they are, except line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

const masterKey = randomBytes(32);
const service = ofFile(() => testService({ vault: openVault([masterKey]) }));
const line = commandLine(() => service.fresh, { MASTER_KEY: masterKey.toString('base64') });
let channel: ChannelClient;
beforeAll(async () => {
  channel = await demoChannel(service);
});

/** Returns the output, and checks that it has no control characters. */
async function printed(...args: readonly string[]): Promise<string> {
  const text = await line.text(...args);
  expect(text.match(RAW), text).toBeNull();
  return text;
}
const linesOf = (text: string) => text.split('\n').length;

/** Creates two orders with `text` in fields that the channel sets, and `more` in their reasons and in an alert. */
async function orderWith(text: string, more = text) {
  const shared = await create(sharedRequest, { channelUserId: unique(text), externalOrderNo: unique(text) });
  const collected = await create(collectRequest, {
    channelUserId: unique(text),
    externalOrderNo: unique(text),
    channelAgreementRef: text,
  });
  await channel.call('orders/unsubscribe', { orderNo: collected, reason: more });
  const { database } = service.fresh;
  await database.query('update debit_attempts set reason = $2 where order_no = $1', [shared, more]);
  await raiseAlert(database, 'refund-refused', shared, more);
  return { shared, collected };
}

async function create(request: typeof sharedRequest | typeof collectRequest, more: Record<string, unknown>) {
  const reply = await whileAddressed(service.fresh.database, channel, () =>
    channel.call('orders/create', request(channel, more)),
  );
  expect(reply.data, reply.text).toMatchObject({ orderStatus: 'ACTIVE' });
  return reply.data.orderNo as string;
}

describe('a channel’s texts in its order', () => {
  let hostile: Awaited<ReturnType<typeof orderWith>>;
  let harmless: Awaited<ReturnType<typeof orderWith>>;
  beforeAll(async () => {
    hostile = await orderWith(HOSTILE);
    harmless = await orderWith('harmless');
  });

  it('order show: one line for each field and row, as for any other order', async () => {
    for (const kind of ['shared', 'collected'] as const) {
      const text = await printed('order', 'show', hostile[kind]);
      expect(linesOf(text)).toBe(linesOf(await printed('order', 'show', harmless[kind])));
      expect(text).toMatch(/^Order +\d+\nExternal number +A\\u\{a\}\\u\{1b\}\[2K/);
      expect(text.match(/^Status +\S+$/gm)).toHaveLength(1);
      const lines = text.split('\n').filter((line) => line.includes(MADE_VISIBLE));
      const names = lines.map((line) => line.split(/ {2}/)[0]);
      expect(names).toEqual(
        kind === 'shared'
          ? ['External number', 'User', '1', 'warning']
          : ['External number', 'User', 'Unsubscribed', 'Agreement of the channel'],
      );
    }
  });

  it('a settlement report as CSV is written to files and pipes, but not to a terminal', async () => {
    const args = ['settlement', 'report', '--channel', 'test_demo', '--month', '2026-01', '--format', 'csv'];
    expect((await line.run(...args)).stdout).toContain(`"${HOSTILE}`);
    const command = [process.execPath, BIN, ...args];
    const onTerminal =
      process.platform === 'darwin' ? ['-q', '/dev/null', ...command] : ['-qec', command.join(' '), '/dev/null'];
    const seen = await promisify(execFile)('script', onTerminal, {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...line.settings() },
    }).catch((error: { stdout: string }) => error);
    expect(seen.stdout).toContain('perennial: a CSV report cannot be printed to a terminal: give --output');
    expect(seen.stdout).not.toContain('\u001b');
  });
});

describe('texts of operators', () => {
  it('audit list: reasons and notes, with their authors', async () => {
    const orderNo = await create(sharedRequest, {});
    await printed('order', 'refund', orderNo, '1', '--amount-cent', '490', '--note', TURNED);
    await printed('order', 'unsubscribe', orderNo, '--reason', TURNED);
    const trail = await printed('audit', 'list', '--subject', orderNo);
    expect(trail).toMatch(/order\.unsubscribe +\d+ +\{.*late \\u\{202e\}yreviled\\u\{202c\}/);
    expect(trail).toMatch(/order\.refund +\d+ +\{.*late \\u\{202e\}yreviled\\u\{202c\}/);
    const order = await printed('order', 'show', orderNo);
    expect(order).toMatch(/^Unsubscribed .*: late \\u\{202e\}yreviled\\u\{202c\}$/m);
    expect(order).toMatch(/^1 +R\d+ .* late \\u\{202e\}yreviled\\u\{202c\}$/m);
  });
});

describe('refusals', () => {
  it.each([
    ['an order', ['order', 'show', '--external', HOSTILE]],
    ['an alert', ['alert', 'acknowledge', HOSTILE, HOSTILE]],
    ['an option', ['order', 'show', `--${HOSTILE}`]],
    ['a command', [HOSTILE]],
    ['a file', ['benefit', 'import-codes', 'COUPON', path.join(os.tmpdir(), HOSTILE)]],
  ])('%s with such a name: one line, with and without --json', async (_what, args) => {
    for (const more of [[], ['--json']]) {
      const ran = await line.run(...args, ...more);
      expect(ran).toMatchObject({ code: 1, stdout: '' });
      expect(ran.stderr.match(RAW), ran.stderr).toBeNull();
      expect(ran.stderr).toMatch(/^[^\n]+\n$/);
    }
  });
});
