import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { GOOD_PNG } from '../pictures/samples.js';
import { freshDatabase } from '../support/database.js';
import { BIN, perennial } from './perennial.js';
import { commandLine } from './support.js';

const fresh = ofFile(freshDatabase);
const { run, text, json, dataDir, settings: settingsOf } = commandLine(() => fresh);

const words = (line: string) => line.split(' ');
const SECRET = /[A-Za-z0-9+/]{43}=/;

describe('provisioning a channel with --json', () => {
  const A = 'test_partner';
  let made: Record<string, unknown>;

  it('product create, payment-channel create, channel create', async () => {
    const product = words('product create VIP --name 会员 --mode SVC_DEDUCT --mode CHANNEL_COLLECT --amount-cent 1990');
    const course = words('--period-type MONTH --cycles 12 --period 3 --benefit COUPON:490 --retry 1h,1d --benefit');
    expect(await json(...product, ...course, 'PASS:1500:VIP pass')).toMatchObject({
      productCode: 'VIP',
      productName: '会员',
      settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
      period: 3,
      benefits: [
        { benefitCode: 'COUPON', name: 'COUPON', faceValueCent: 490 },
        { benefitCode: 'PASS', name: 'VIP pass', faceValueCent: 1500 },
      ],
      retryDelays: [3600, 86_400],
    });
    expect(await json(...words('payment-channel create PAY --name Pay --gateway sandbox --banks *'))).toMatchObject({
      code: 'PAY',
      supportedBanks: ['*'],
      bankCodeRequired: false,
      debitHours: null,
      commonNumbers: false,
    });
    const bank = words(
      'payment-channel create BANK --name Bank --banks ICBC,CCB --bank-code-required --gateway bridge',
    );
    const more = words('--gateway-url http://127.0.0.1:9/x --debits-per-second 5 --debit-hours 8-22 --common-numbers');
    expect(await json(...bank, ...more)).toMatchObject({
      gatewayUrl: 'http://127.0.0.1:9/x',
      bankCodeRequired: true,
      debitsPerSecond: 5,
      debitHours: { from: 8, to: 22 },
      commonNumbers: true,
    });
    made = await json('channel', 'create', '--name', 'Partner', '--app-id', A, '--rate', '10', '--burst', '30');
    expect(made).toMatchObject({ appId: A, ratePerSecond: 10, rateBurst: 30 });
    for (const name of ['appSecret', 'aesKey', 'callbackSecret']) expect(made[name]).toMatch(SECRET);
  });

  it('authorizations and settings', async () => {
    await json('channel', 'authorize-product', A, 'VIP');
    await json('channel', 'authorize-payment-channel', A, 'PAY', '--default', '--share');
    await json('channel', 'authorize-payment-channel', A, 'BANK');
    await json('channel', 'set-callback', A, 'https://partner.example/all');
    await json('channel', 'set-callback', A, 'https://partner.example/pay', '--event', 'payment.status.changed');
    await json('channel', 'set-ip-list', A, '203.0.113.7', '198.51.100.0/24,2001:db8::/32');
    await json('channel', 'set-limits', A, '--rate', '20');
    await json('channel', 'set-voided-period-events', A, 'off');
    await json('channel', 'set-upcoming-notices', A, '5');
    await json('channel', 'set-frame-origins', A, 'https://shop.example,https://m.shop.example');
    await json('channel', 'set-encryption', A, '--answers', 'v2', '--refuse-v1');
    const logo = path.join(dataDir, 'logo.png');
    await writeFile(logo, GOOD_PNG);
    const [shop, terms] = ['https://shop.example/', 'https://shop.example/terms'];
    await json('channel', 'set-branding', A, '--name', '阳光 Shop', '--logo', logo, '--accent', '#0a6b4b');
    await json('channel', 'set-branding', A, '--support', '+86-400-0000', '--terms', terms, '--shop', shop);
    const { appSecret, aesKey, callbackSecret, ...rest } = made;
    expect(await json('channel', 'show', A)).toEqual({
      ...rest,
      branding: {
        displayName: '阳光 Shop',
        logo: { file: expect.stringMatching(/^[0-9a-f]{64}\.png$/), mediaType: 'image/png', bytes: GOOD_PNG.length },
        accent: '0a6b4b',
        support: '+86-400-0000',
        termsUrl: terms,
        shopUrl: shop,
      },
      ratePerSecond: 20,
      rateBurst: 40,
      ipAllowList: ['203.0.113.7/32', '198.51.100.0/24', '2001:db8::/32'],
      voidedPeriodEvents: false,
      upcomingNoticeDays: 5,
      frameOrigins: ['https://shop.example', 'https://m.shop.example'],
      answerEncryption: 'v2',
      acceptsV1: false,
      callbackUrls: [
        { eventType: '*', url: 'https://partner.example/all' },
        { eventType: 'payment.status.changed', url: 'https://partner.example/pay' },
      ],
      products: ['VIP'],
      paymentChannels: [
        { code: 'BANK', isDefault: false, shareEnabled: false },
        { code: 'PAY', isDefault: true, shareEnabled: true },
      ],
    });
  });

  it('and their removal', async () => {
    await json('channel', 'authorize-payment-channel', A, 'PAY', '--no-share');
    expect(await json('channel', 'authorize-payment-channel', A, 'BANK', '--default')).toMatchObject({
      paymentChannels: [
        { code: 'BANK', isDefault: true, shareEnabled: false },
        { code: 'PAY', isDefault: false, shareEnabled: false },
      ],
    });
    await json('channel', 'withdraw-payment-channel', A, 'BANK');
    await json('channel', 'withdraw-product', A, 'VIP');
    await json('channel', 'set-callback', A, '--event', 'payment.status.changed', '--remove');
    await json('channel', 'set-ip-list', A, '--clear');
    await json('channel', 'set-upcoming-notices', A, '5');
    await json('channel', 'set-frame-origins', A, '--clear');
    await json('channel', 'set-encryption', A, '--accept-v1');
    expect(await text('channel', 'show', A)).toMatch(
      /^Tones, dark +accent #[0-9a-f]{6} \([\d.]+:1\), .*soft #[0-9a-f]{6} \([\d.]+:1\)$/m,
    );
    await json('channel', 'set-branding', A, '--name', 'none', '--logo', 'none', '--accent', 'none', '--shop', 'none');
    expect(await text('channel', 'set-branding', A, '--support', 'none', '--terms', 'none')).toBe('Branding  none\n');
    expect(await json('channel', 'show', A)).toMatchObject({
      branding: { displayName: null, logo: null, accent: null, support: null, termsUrl: null, shopUrl: null },
      ipAllowList: [],
      frameOrigins: [],
      answerEncryption: 'v2',
      acceptsV1: true,
      callbackUrls: [{ eventType: '*', url: 'https://partner.example/all' }],
      products: [],
      paymentChannels: [{ code: 'PAY', isDefault: false, shareEnabled: false }],
    });
    const none = words('--no-bank-code-required --debit-hours none --debits-per-second none --no-common-numbers');
    expect(await json('payment-channel', 'update', 'BANK', ...none)).toMatchObject({
      bankCodeRequired: false,
      debitHours: null,
      debitsPerSecond: null,
      commonNumbers: false,
      changed: true,
    });
    expect(await json('channel', 'suspend', A)).toMatchObject({ status: 'SUSPENDED', changed: true });
    expect(await json('channel', 'suspend', A)).toMatchObject({ status: 'SUSPENDED', changed: false });
    expect(await json('channel', 'resume', A)).toMatchObject({ status: 'ACTIVE', changed: true });
    expect(await json('channel', 'revoke-tokens', A)).toMatchObject({ changed: true });
  });

  it('a reset shows only the new secrets', async () => {
    const all = await json('channel', 'reset-credentials', A);
    for (const name of ['appSecret', 'aesKey', 'callbackSecret']) {
      expect(all[name]).toMatch(SECRET);
      expect(all[name]).not.toBe(made[name]);
    }
    const one = await json('channel', 'reset-credentials', A, '--only', 'callbackSecret');
    expect(one).toMatchObject({ callbackSecret: expect.stringMatching(SECRET) });
    expect(one).not.toHaveProperty('appSecret');
    expect(one).not.toHaveProperty('aesKey');
  });

  it('the audit trail has actor, time and action', async () => {
    const { items } = (await json('audit', 'list', '--subject', A)) as { items: Record<string, unknown>[] };
    // There is one item for each command that changed something. operator/provisioning.test.ts tests the names of the
    // other actions.
    expect(items).toHaveLength(29);
    const actions = new Set(items.map(({ action }) => action));
    for (const verb of ['create', 'revoke-tokens', 'set-frame-origins', 'set-upcoming-notices']) {
      expect(actions).toContain(`channel.${verb}`);
    }
    for (const item of items) {
      expect(item).toMatchObject({
        actor: `cli:${os.userInfo().username}@${os.hostname()}`,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      });
    }
    expect(JSON.stringify(items)).not.toMatch(SECRET);
    expect(await json('audit', 'list', '--limit', '2')).toMatchObject({ items: [{ subject: A }, { subject: A }] });
  });
});

describe('text output', () => {
  it('secrets are shown only when they are created', async () => {
    const made = await text('channel', 'create', '--name', '伙伴', '--app-id', 'test_people');
    expect(made.match(new RegExp(SECRET, 'g'))).toHaveLength(3);
    expect(made).toContain('not shown again');
    const reset = await text('channel', 'reset-credentials', 'test_people', '--only', 'aesKey,appSecret');
    expect(reset.match(new RegExp(SECRET, 'g'))).toHaveLength(2);
    const others = await Promise.all([
      text('channel', 'show', 'test_people'),
      text('channel', 'list'),
      text('audit', 'list'),
      text('channel', 'suspend', 'test_people'),
    ]);
    for (const other of others) expect(other).not.toMatch(SECRET);
  });
});

describe('help', () => {
  const NOUNS = {
    channel: 14,
    product: 5,
    'payment-channel': 8,
    order: 5,
    agreement: 2,
    alert: 3,
    'master-key': 2,
    numbers: 1,
    audit: 4,
    operator: 7,
  };

  it('exists for every command, with an example', async () => {
    const top = await text('--help');
    for (const [noun, count] of Object.entries(NOUNS)) {
      expect(top).toContain(noun);
      const listed = await text(noun, '--help');
      const verbs = [...listed.matchAll(/^ {2}([a-z-]+) \[options\]/gm)].map(([, verb = '']) => verb);
      expect(verbs).toHaveLength(count);
      const helps = await Promise.all(verbs.map((verb) => text(noun, verb, '--help')));
      for (const [position, help] of helps.entries()) {
        expect(help).toContain(`$ perennial ${noun} ${verbs[position]}`);
        expect(help).toContain('--json');
      }
    }
  });

  it('is printed to stderr if no command is given', async () => {
    for (const args of [[], ['channel']]) {
      expect(await run(...args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Usage:') });
    }
    expect(await run('channel', '--json')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^{.*}\n$/),
    });
  });

  it('of start names the port, which is no option', async () => {
    expect(await text('start', '--help')).toContain('$ PORT=8081 perennial start');
  });

  it('needs neither settings nor a database', async () => {
    expect(await perennial(['channel', 'create', '--help'], { PORT: 'nonsense' })).toMatchObject({ code: 0 });
    expect(await perennial(['--version'], { PORT: 'nonsense' })).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  });
});

describe('a reader that closes the pipe', () => {
  async function shell(command: string): Promise<{ code: number | null; stderr: string }> {
    const child = spawn('bash', ['-c', command], {
      env: { ...process.env, NODE: process.execPath, BIN, ...settingsOf() },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  }

  it('causes no stack trace', async () => {
    const piped = await shell('set -o pipefail; "$NODE" "$BIN" audit list --limit 1000 | head -c 1');
    expect(piped).toEqual({ code: 0, stderr: '' });
    const closed = await shell('set -o pipefail; "$NODE" "$BIN" audit list | true');
    expect(closed).toEqual({ code: 0, stderr: '' });
  });

  // macOS has no /dev/full.
  if (process.platform === 'linux') {
    it('but a full disk is reported', async () => {
      const full = await shell('"$NODE" "$BIN" audit list > /dev/full');
      expect(full).toEqual({ code: 1, stderr: expect.stringMatching(/^perennial: .*ENOSPC.*\n$/) });
    });
  }
});

describe('changes under running orders', () => {
  it('a reset with an overlap prints until when the former app secret is valid', async () => {
    await json('channel', 'create', '--name', 'Rolling', '--app-id', 'test_rolling');
    const reset = await text(...words('channel reset-credentials test_rolling --only appSecret --overlap-hours 24'));
    expect(reset).toMatch(/^test_rolling has new credentials; its former app secret is valid until \d{4}-\d\d-\d\d /);
    expect(await text('channel', 'show', 'test_rolling')).toMatch(/^Former app secret +taken until \d{4}-/m);
    expect(await json('channel', 'reset-credentials', 'test_rolling')).toMatchObject({ formerSecretUntil: null });
    expect(await run('channel', 'reset-credentials', 'test_rolling', '--overlap-hours', '169')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the hours of overlap must be a whole number from 0 to 168'),
    });
  });
});
