import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { perennial } from './perennial.js';
import { commandLine, type Refusal } from './support.js';

const A = 'test_there';
const fresh = ofFile(freshDatabase);
const line = commandLine(() => fresh);
let before: string;

beforeAll(async () => {
  for (const args of [
    ['channel', 'create', '--name', 'There', '--app-id', A],
    ['product', 'create', 'DAILY', '--name', 'd', '--mode', 'SVC_DEDUCT', ...cycle('7')],
    ['payment-channel', 'create', 'PAY', '--name', 'Pay', '--gateway', 'sandbox', '--banks', '*'],
  ]) {
    await line.text(...args);
  }
  before = await dump(fresh.database);
});

function cycle(cycles: string): string[] {
  return ['--period-type', 'DAY', '--cycles', cycles, '--amount-cent', '100'];
}

const product = (code: string, ...more: string[]) => ['product', 'create', code, '--name', 'n', ...more];
const payment = (code: string, ...more: string[]) => ['payment-channel', 'create', code, '--name', 'n', ...more];

const REFUSALS: readonly Refusal[] = [
  // syntax of the command
  [/unknown command 'chanel'/, 'chanel', 'list'],
  [/unknown command 'destroy'/, 'channel', 'destroy', A],
  [/unknown option '--force'/, 'channel', 'suspend', A, '--force'],
  [/too many arguments/, 'channel', 'suspend', A, 'test_other'],
  [/missing required argument 'app-id'/, 'channel', 'show'],
  [/required option '--name <text>' not specified/, 'channel', 'create'],
  [/argument missing/, 'channel', 'create', '--name'],
  [/nothing to change/, 'channel', 'set', A],
  [/requests per second/, 'channel', 'set', A, '--burst', '9'],
  [/whole number/, 'channel', 'set', A, '--rate', 'many'],
  [/whole number/, 'channel', 'set', A, '--rate', '-5'],
  [/on or off/, 'channel', 'set', A, '--voided-period-events', 'maybe'],
  [/whole number/, 'channel', 'set', A, '--upcoming-notices', 'soon'],
  [/from 1 to 30/, 'channel', 'set', A, '--upcoming-notices', '31'],
  [/goes with --callback/, 'channel', 'set', A, '--event', 'payment.status.changed'],
  [/unknown command/, 'channel', 'set-callback', A, 'https://a.example', '--remove'],
  [/durations such as/, ...product('NEW', '--mode', 'SVC_DEDUCT', ...cycle('7'), '--retry', 'soon')],
  [/CODE:FACE_VALUE_CENT/, ...product('NEW', '--mode', 'SVC_DEDUCT', ...cycle('7'), '--benefit', 'VIP')],
  [/hours of the day/, ...payment('NEW', '--gateway', 'sandbox', '--banks', '*', '--debit-hours', 'noon')],
  // values
  [/already a channel/, 'channel', 'create', '--name', 'x', '--app-id', A],
  [/must start with test_/, 'channel', 'create', '--name', 'x', '--app-id', 'partner'],
  [/1 to 200 characters/, 'channel', 'create', '--name', ''],
  [/control characters/, 'channel', 'create', '--name', 'a\u001b[31mb'],
  [/v1 or v2, not "v3"/, 'channel', 'set', A, '--answers', 'v3'],
  [/cannot be used with/, 'channel', 'set', A, '--refuse-v1', '--accept-v1'],
  [/no channel/, 'channel', 'set', 'test_none', '--refuse-v1'],
  [/not be below/, 'channel', 'set', A, '--rate', '10', '--burst', '9'],
  [/no channel "test_none"/, 'channel', 'show', 'test_none'],
  [/no channel/, 'channel', 'suspend', 'test_none'],
  [/no channel/, 'channel', 'resume', 'test_none'],
  [/no channel/, 'channel', 'reset-credentials', 'test_none'],
  [/appSecret or aesKey or callbackSecret/, 'channel', 'reset-credentials', A, '--only', 'password'],
  [/no channel/, 'channel', 'revoke-tokens', 'test_none'],
  [/no product/, 'channel', 'authorize-product', A, 'NONE'],
  [/no product/, 'channel', 'withdraw-product', A, 'NONE'],
  [/no payment channel/, 'channel', 'authorize-payment-channel', A, 'NONE', '--default'],
  [/no payment channel/, 'channel', 'withdraw-payment-channel', A, 'NONE'],
  [/https:/, 'channel', 'set', A, '--callback', 'http://partner.example/'],
  [/https:/, 'channel', 'set', A, '--callback', 'http://localhost:3000/'],
  [/public internet/, 'channel', 'set', A, '--callback', 'https://0x7f.1/'],
  [/event type/, 'channel', 'set', A, '--callback', 'https://partner.example/', '--event', 'order.created'],
  [/Did you mean 203/, 'channel', 'set', A, '--ip-list', '203.0.113.7/24'],
  [/neither/, 'channel', 'set', A, '--ip-list', '203.0.113.7', 'partner.example'],
  [/already a product/, ...product('DAILY', '--mode', 'SVC_DEDUCT', ...cycle('7'))],
  [/product code must be/, ...product('daily', '--mode', 'SVC_DEDUCT', ...cycle('7'))],
  [/settlement mode must be/, ...product('NEW', '--mode', 'A', ...cycle('7'))],
  [/from 1 to 9999/, ...product('NEW', '--mode', 'SVC_DEDUCT', ...cycle('10000'))],
  [/from 60 to/, ...product('NEW', '--mode', 'SVC_DEDUCT', ...cycle('7'), '--retry', '10s')],
  [/no product/, 'product', 'show', 'NONE'],
  [/already a payment channel/, ...payment('PAY', '--gateway', 'sandbox', '--banks', '*')],
  [/gateway must be/, ...payment('NEW', '--gateway', 'card', '--banks', '*')],
  [/needs an address/, ...payment('NEW', '--gateway', 'bridge', '--banks', '*')],
  [/bank code must be/, ...payment('NEW', '--gateway', 'sandbox', '--banks', 'ICBC,')],
  [/nothing to change/, 'payment-channel', 'update', 'PAY'],
  [/no payment channel/, 'payment-channel', 'update', 'NONE', '--name', 'x'],
  [/from 1 to 1000/, 'audit', 'list', '--limit', '0'],
];

describe('refusals have exit code 1 and one line, and write nothing', () => {
  const cases = REFUSALS.map(([reason, ...args]) => ({ command: args.join(' '), args, reason }));

  it.concurrent.each(cases)('$command', async ({ args, reason }) => {
    const ran = await line.run(...args);
    expect(ran).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^perennial: [^\n]+\n$/) });
    expect(ran.stderr).toMatch(reason);
  });

  // Tests every fifth case, because the same code prints all errors.
  it.concurrent.each(cases.filter((_, i) => i % 5 === 0))('$command --json', async ({ args, reason }) => {
    const ran = await line.run(...args, '--json');
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(ran.stderr)).toEqual({ error: expect.stringMatching(reason) });
  });

  afterAll(async () => {
    expect(await dump(fresh.database)).toBe(before);
  });
});

describe('unusable settings', () => {
  it.each([
    ['a bad value', { PORT: 'http' }, /PORT must be/],
    ['production without a key', { SVC_ENVIRONMENT: 'production' }, /MASTER_KEY is required/],
    ['another master key', { MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }, /MASTER_KEY is not the key/],
    ['an unreachable database', { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' }, /cannot be reached/],
  ])('%s', async (_, more, reason) => {
    const ran = await perennial(['channel', 'list', '--json'], { ...line.settings(), ...more });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(ran.stderr)).toEqual({ error: expect.stringMatching(reason) });
  });
});

it('a lock that another session holds for too long is reported in words', async () => {
  await fresh.database.transaction(async (tx) => {
    await tx.query('lock table channels in access exclusive mode');
    expect(await line.run('channel', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'perennial: held up: another session holds a lock for too long (55P03)\n',
    });
  });
});
