import { createPrivateKey, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimInstallation } from '../../src/platform/installation/installation.js';
import { PlainError } from '../../src/platform/plain-error.js';
import { checkNodeSettings, readSettings } from '../../src/platform/settings.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { openingRefusal } from '../support/opening-refusal.js';
import { MAIN, serviceUrl, start } from '../support/processes.js';
import { newAuthority } from '../webhooks/certificates.js';

const KEY = randomBytes(32).toString('base64');
const PRODUCTION = {
  SVC_ENVIRONMENT: 'production',
  MASTER_KEY: KEY,
  DATABASE_URL: 'postgres://nobody:s3cret@127.0.0.1:1/none',
  PUBLIC_URL: 'https://pay.example',
};

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-settings-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Returns the one-line error of these settings. */
function told(env: Record<string, string>): string {
  try {
    checkNodeSettings(readSettings(env));
  } catch (error) {
    if (error instanceof PlainError) return error.message;
    throw error;
  }
  return 'nothing';
}

/** Starts the service, expects a refusal, and returns its one line. */
async function refusal(env: Record<string, string>): Promise<string> {
  const running = start(MAIN, { DATA_DIR: dataDir, PORT: '0', ...env });
  expect(await running.exited).toBe(1);
  const lines = running
    .stderr()
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('  '));
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

describe('a bad setting stops the start with one line that names it', () => {
  it.each([
    ['PORT', { PORT: 'eighty' }],
    ['PORT', { PORT: '65536' }],
    ['PORT', { PORT: '-1' }],
    ['SVC_ENVIRONMENT', { SVC_ENVIRONMENT: 'staging' }],
    ['CURRENCY', { CURRENCY: 'yuan' }],
    ['CURRENCY', { CURRENCY: 'ZZZ' }],
    ['CURRENCY: JPY cannot be used', { CURRENCY: 'jpy' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://x' }],
    ['DATABASE_URL', { DATABASE_URL: 'not an address' }],
    ['DATABASE_POOL', { DATABASE_POOL: '1' }],
    ['PORT', { PORT: ':8080' }],
    ['PORT', { PORT: '::8080' }],
    ['PORT', { PORT: '0.0.0.0' }],
    ['ALERT_EMAIL_FROM is no longer a setting: add it to SMTP_URL', { ALERT_EMAIL_FROM: 'a@b.c' }],
    ['AUTH_FAILURES_PER_MINUTE is no longer a setting', { AUTH_FAILURES_PER_MINUTE: '600' }],
    ['CONSOLE_HOST is no longer a setting: write it before the port', { CONSOLE_HOST: '0.0.0.0' }],
    ['DATABASE_SHARE is no longer a setting', { DATABASE_SHARE: '4' }],
    ['HOST is no longer a setting: write it before the port', { HOST: '0.0.0.0' }],
    ['METRICS_HOST is no longer a setting: write it before the port', { METRICS_HOST: '0.0.0.0' }],
    ['OIDC_NAME is no longer a setting', { OIDC_NAME: 'Example' }],
    ['REQUEST_LOG is no longer a setting', { REQUEST_LOG: 'off' }],
    ['WORKERS is no longer a setting: start several nodes', { WORKERS: '4' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'ftp://x' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://ann:s3cret@pay.example' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://pay.example/?a=1' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://pay.example/#top' }],
    ['REDEEM_URL', { REDEEM_URL: 'h5.example' }],
    ['REDEEM_URL', { REDEEM_URL: 'https://ann@h5.example' }],
    ['REDEEM_OPENS_PER_MINUTE', { REDEEM_OPENS_PER_MINUTE: '4' }],
    ['MASTER_KEY', { MASTER_KEY: 'short' }],
    ['MASTER_KEY', { MASTER_KEY: `${KEY}!` }],
    ['MASTER_KEY', { MASTER_KEY: randomBytes(31).toString('base64') }],
    ['MASTER_KEY_PREVIOUS', { MASTER_KEY: KEY, MASTER_KEY_PREVIOUS: 'short' }],
    ['MASTER_KEY_PREVIOUS', { MASTER_KEY_PREVIOUS: KEY }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
    ['LOG_FORMAT', { LOG_FORMAT: 'xml' }],
    ['NODE_ID', { NODE_ID: 'two words' }],
    ['NODE_ID', { NODE_ID: 'x'.repeat(65) }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: '10.0.0.0/8,not-an-address' }],
    ['EVENTS_RETENTION_DAYS', { EVENTS_RETENTION_DAYS: '29' }],
    ['EVENTS_RETENTION_DAYS', { EVENTS_RETENTION_DAYS: '3651' }],
    ['EVENTS_RETENTION_DAYS', { EVENTS_RETENTION_DAYS: '90.5' }],
    ['EVENTS_RETENTION_DAYS', { EVENTS_RETENTION_DAYS: 'forever' }],
    ['PUSHES_PER_ADDRESS', { PUSHES_PER_ADDRESS: '65' }],
    ['AGREEMENT_DATA_DAYS', { AGREEMENT_DATA_DAYS: '0' }],
    ['AGREEMENT_DATA_DAYS', { AGREEMENT_DATA_DAYS: '3651' }],
    ['MIGRATE', { MIGRATE: 'sometimes' }],
    ['DRAIN_SECONDS', { DRAIN_SECONDS: '301' }],
    ['METRICS_PORT', { METRICS_PORT: 'many' }],
    ['METRICS_PORT', { PORT: '8090', METRICS_PORT: '8090' }],
    ['METRICS_PORT', { METRICS_PORT: '8080' }],
    ['CONSOLE_TOTP_ROLES', { CONSOLE_TOTP_ROLES: 'admin,boss' }],
    ['METRICS_TOKEN', { METRICS_TOKEN: 'short' }],
    ['METRICS_TOKEN', { METRICS_TOKEN: 'sixteen or more, but in words' }],
    ['MASTER_KEY', { ...PRODUCTION, MASTER_KEY: '' }],
    ['PUBLIC_URL', { ...PRODUCTION, PUBLIC_URL: '' }],
    ['PUBLIC_URL', { ...PRODUCTION, PUBLIC_URL: 'http://pay.example' }],
    ['REDEEM_URL', { ...PRODUCTION, REDEEM_URL: 'http://h5.example' }],
    ['DATABASE_URL', { ...PRODUCTION, DATABASE_URL: '' }],
    ['ENGINE', { ENGINE: 'no' }],
    ['ALERT_WEBHOOK_URL', { ALERT_WEBHOOK_URL: 'hooks.example', ALERT_WEBHOOK_SECRET: 'sixteen characters' }],
    ['ALERT_WEBHOOK_URL', { ALERT_WEBHOOK_SECRET: 'sixteen characters' }],
    ['ALERT_WEBHOOK_SECRET', { ALERT_WEBHOOK_URL: 'https://hooks.example/with-a-token-in-it' }],
    [
      'ALERT_WEBHOOK_SECRET',
      { ALERT_WEBHOOK_URL: 'https://hooks.example/with-a-token-in-it', ALERT_WEBHOOK_SECRET: 'x' },
    ],
    ['MESSAGE_HOOK_URL', { MESSAGE_HOOK_URL: 'http://sms.example/send', MESSAGE_HOOK_SECRET: 'sixteen characters' }],
    ['MESSAGE_HOOK_URL', { MESSAGE_HOOK_SECRET: 'sixteen characters' }],
    ['MESSAGE_HOOK_SECRET', { MESSAGE_HOOK_URL: 'https://sms.example/send', MESSAGE_HOOK_SECRET: 'x' }],
    ['SMTP_URL', { SMTP_URL: 'https://user:password@mail.example', ALERT_EMAIL: 'ann@example.com' }],
    ['SMTP_URL', { ALERT_EMAIL: 'ann@example.com' }],
    ['ALERT_EMAIL', { SMTP_URL: 'smtps://user:password@mail.example' }],
    ['ALERT_EMAIL', { SMTP_URL: 'smtps://user:password@mail.example', ALERT_EMAIL: 'ann' }],
    ['SMTP_URL', { SMTP_URL: 'smtps://user:password@mail.example?from=x', ALERT_EMAIL: 'a@b.c' }],
  ])('%s: %j', (name, env: Record<string, string>) => {
    const line = told(env);
    expect(line).toMatch(new RegExp(`^${name}\\b`));
    expect(line).not.toContain('\n');
    for (const value of Object.values(env)) if (value.length > 20) expect(line).not.toContain(value);
  });

  it('and is the only output of the service', async () => {
    const env = { PORT: 'eighty' };
    expect(await refusal(env)).toBe(`perennial: ${told(env)}`);
  });

  it('the defaults are those of the documentation', () => {
    expect(readSettings({})).toMatchObject({
      environment: 'sandbox',
      host: '127.0.0.1',
      port: 8080,
      dataDir: path.resolve('data'),
      databaseUrl: undefined,
      publicUrl: undefined,
      redeemUrl: undefined,
      redeemOpensPerMinute: 600,
      masterKeys: undefined,
      eventsRetentionDays: 180,
      pushesPerAddress: 8,
      migrate: 'auto',
      drainSeconds: 0,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      metricsToken: undefined,
    });
    expect(readSettings(PRODUCTION)).toMatchObject({ migrate: 'never', drainSeconds: 5 });
  });

  it('in production the console and /metrics are not on the public port, but on this machine', () => {
    const apart = ({ consoleHost, consolePort, metricsHost, metricsPort }: ReturnType<typeof readSettings>) => [
      `${consoleHost}:${consolePort}`,
      `${metricsHost}:${metricsPort}`,
    ];
    const open = { ...PRODUCTION, PORT: '0.0.0.0:8080' };
    expect(apart(readSettings(open))).toEqual(['127.0.0.1:9080', '127.0.0.1:10080']);
    expect(apart(readSettings({ ...open, PORT: '0' }))).toEqual(['127.0.0.1:0', '127.0.0.1:0']);
    expect(apart(readSettings({ ...open, PORT: '64000' }))).toEqual(['127.0.0.1:63000', '127.0.0.1:62000']);
    expect(readSettings({ ...open, CONSOLE_PORT: 'same', METRICS_PORT: 'same' })).toMatchObject({
      consolePort: undefined,
      metricsPort: undefined,
    });
    expect(readSettings({})).toMatchObject({ consolePort: undefined, metricsPort: undefined });
  });

  it('in production finance and admin need a second factor, unless CONSOLE_TOTP_ROLES names others or none', () => {
    expect(readSettings(PRODUCTION).totpRoles).toEqual(['finance', 'admin']);
    expect(readSettings({}).totpRoles).toEqual([]);
    expect(readSettings({ CONSOLE_TOTP_ROLES: 'admin, support' }).totpRoles).toEqual(['support', 'admin']);
    expect(readSettings({ ...PRODUCTION, CONSOLE_TOTP_ROLES: 'none' }).totpRoles).toEqual([]);
  });

  it('production warns about settings that are probably wrong', () => {
    const env = { ...PRODUCTION, CONSOLE_URL: 'https://console.example', METRICS_PORT: 'same' };
    const warnings = (more: Record<string, string>) => checkNodeSettings(readSettings({ ...env, ...more }));
    expect(warnings({})).toEqual([]);
    expect(warnings({ CONSOLE_URL: '' })).toEqual([expect.stringContaining('only from this machine')]);
    expect(warnings({ PORT: '10.0.0.7:8080' })).toEqual([]);
    const proxied = { PORT: '0.0.0.0:8080', TRUSTED_PROXIES: '10.0.0.0/8' };
    expect(warnings({ PORT: '[::]:8080' })).toEqual([
      expect.stringContaining('TRUSTED_PROXIES is empty'),
      expect.stringContaining('/metrics listens on every address'),
    ]);
    expect(warnings(proxied)).toEqual([expect.stringContaining('/metrics')]);
    expect(warnings({ ...proxied, METRICS_PORT: '9464' })).toEqual([]);
    expect(warnings({ ...proxied, METRICS_PORT: '0.0.0.0:9464' })).toHaveLength(1);
    expect(warnings({ ...proxied, METRICS_TOKEN: 'a-token-of-some-length' })).toEqual([]);
    // A sandbox gets no warnings.
    expect(checkNodeSettings(readSettings({ PORT: '0.0.0.0:8080' }))).toEqual([]);
  });

  it('a listener is a port, or an address and a port', () => {
    const { host, port, metricsHost, metricsPort, consoleHost, consolePort } = readSettings({
      PORT: '[::1]:8081',
      METRICS_PORT: '0.0.0.0:9464',
      CONSOLE_PORT: '0',
    });
    expect([host, port]).toEqual(['::1', 8081]);
    expect([metricsHost, metricsPort]).toEqual(['0.0.0.0', 9464]);
    expect([consoleHost, consolePort]).toEqual(['127.0.0.1', 0]);
  });

  it('the sender of mails is that of SMTP_URL, or the first recipient', () => {
    const env = { SMTP_URL: 'smtp://mail.example', ALERT_EMAIL: 'ann@example.com,ben@example.com' };
    expect(readSettings(env).alertEmail?.from).toBe('ann@example.com');
    const named = { ...env, SMTP_URL: 'smtp://mail.example?from=alerts@example.com' };
    expect(readSettings(named).alertEmail?.from).toBe('alerts@example.com');
  });

  it('single sign-on is named after the host of its issuer', () => {
    const env = { OIDC_ISSUER: 'https://login.example/realm', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' };
    expect(readSettings(env).singleSignOn?.name).toBe('login.example');
  });

  it('events are kept for 30 to 3650 days', () => {
    for (const days of [30, 365, 3650]) {
      expect(readSettings({ EVENTS_RETENTION_DAYS: String(days) }).eventsRetentionDays).toBe(days);
    }
  });
});

describe('a failed start prints one line', () => {
  /** A database shared by the tests that do not change it. */
  const shared = ofFile(freshDatabase);

  it('a port is taken', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const port = String((taken.address() as net.AddressInfo).port);
    const env = { DATABASE_URL: shared.url, MASTER_KEY: KEY };
    // In the third case only the interface's port is taken; the metrics have a free port.
    const taking = [{ PORT: port }, { METRICS_PORT: port }, { PORT: port, METRICS_PORT: '0' }];
    expect(await Promise.all(taking.map((more) => refusal({ ...env, ...more })))).toEqual([
      expect.stringMatching(/EADDRINUSE.*; set PORT to another port$/),
      expect.stringMatching(/EADDRINUSE.*; set METRICS_PORT to another port$/),
      expect.stringMatching(/; set PORT to another port$/),
    ]);
    taken.close();
  });

  it('the password of DATABASE_URL is wrong, and is not repeated', async () => {
    const url = new URL(shared.url);
    url.password = 'wrong-password-here';
    const line = await refusal({ DATABASE_URL: url.href });
    expect(line).toMatch(/DATABASE_URL: .*password/);
    expect(line).not.toContain('wrong-password-here');
  });

  it('the database named by DATABASE_URL does not exist', async () => {
    const url = new URL(shared.url);
    url.pathname = '/no_such_database';
    expect(await openingRefusal({ DATA_DIR: dataDir, DATABASE_URL: url.href })).toMatch(/DATABASE_URL: .*no database/);
  });

  it('the database belongs to another environment', async () => {
    const fresh = await freshDatabase();
    const key = randomBytes(32);
    await claimInstallation(fresh.database, 'sandbox', { local: [key] });
    const env = { ...PRODUCTION, DATABASE_URL: fresh.url, MASTER_KEY: key.toString('base64') };
    expect(await openingRefusal({ DATA_DIR: dataDir, ...env })).toMatch(/belongs to the sandbox environment/);
    await fresh.close();
  });

  it('the database has another currency, from its first start on', async () => {
    const fresh = await freshDatabase();
    const env = { DATA_DIR: dataDir, DATABASE_URL: fresh.url, MASTER_KEY: KEY };
    const stored = async () =>
      (await fresh.database.query<{ currency: string }>('select currency from installation'))[0];
    // Creates the installation as a node of the previous version did, without a currency.
    await claimInstallation(fresh.database, 'sandbox', { local: [Buffer.from(KEY, 'base64')] });
    expect(await stored()).toEqual({ currency: null });
    const first = start(MAIN, { ...env, PORT: '0', CURRENCY: 'eur' });
    await serviceUrl(first);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(await stored()).toEqual({ currency: 'EUR' });
    expect(await openingRefusal({ ...env, CURRENCY: 'USD' })).toBe(
      'the amounts of this database are in EUR, but CURRENCY is USD',
    );
    const unset = start(MAIN, { ...env, PORT: '0' });
    const url = await serviceUrl(unset);
    const openApi = (await (await fetch(`${url}/developers/openapi.json`)).json()) as { info: object };
    expect(openApi.info).toMatchObject({ 'x-currency': 'EUR', description: expect.stringContaining('are in EUR') });
    unset.child.kill('SIGTERM');
    expect(await unset.exited).toBe(0);
    expect(await stored()).toEqual({ currency: 'EUR' });
    await fresh.close();
  });

  it('the database is newer than this build', async () => {
    const fresh = await freshDatabase();
    await fresh.database.query(
      `insert into schema_migrations (version, name, sha256, is_contract) values (999, 'future', 'x', true)`,
    );
    expect(await openingRefusal({ DATA_DIR: dataDir, DATABASE_URL: fresh.url, MASTER_KEY: KEY })).toMatch(
      /version 999.*newer build/,
    );
    await fresh.close();
  });

  it('the address is not on this machine', async () => {
    const env = { DATABASE_URL: shared.url, MASTER_KEY: KEY };
    const places = ['PORT', 'METRICS_PORT'].map((name) => refusal({ ...env, [name]: 'no-such-host.invalid:9464' }));
    expect(await Promise.all(places)).toEqual([
      expect.stringMatching(/check PORT$/),
      expect.stringMatching(/check METRICS_PORT$/),
    ]);
  });

  it('DATA_DIR cannot be created', async () => {
    const file = path.join(dataDir, 'a-file');
    await writeFile(file, '');
    expect(await openingRefusal({ DATA_DIR: path.join(file, 'data') })).toMatch(/DATA_DIR|data folder/);
  });
});

describe('the settings of calls to bridges and suppliers', () => {
  const own = newAuthority().issue({ for: ['service'] });
  const other = newAuthority().issue({ for: ['service'] });
  const encrypted = createPrivateKey(own.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'open sesame',
  });
  const broken = own.cert.replace(/\n[^-]{20}/, '\n');
  const FILES: Readonly<Record<string, string>> = {
    cert: own.cert,
    key: own.key,
    'other-key': other.key,
    encrypted: String(encrypted),
    garbage: 'neither a certificate nor a key',
    'broken-bundle': `${other.cert}${broken}`,
  };
  /** Replaces the names of files by their paths. */
  const envOf = (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        `PEER_${name}`,
        /URL/.test(name) ? value : path.join(dataDir, value),
      ]),
    );
  beforeAll(async () => {
    for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(dataDir, name), text);
  });

  it('are none by default', () => {
    expect(readSettings({}).peers).toEqual({});
  });

  it('are read from the environment, and the proxy is kept without its password', () => {
    const given = { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'key', PROXY_URL: 'https://ann:p%40ss@proxy.example' };
    const { peers } = readSettings(envOf(given));
    expect(peers).toMatchObject({ certFile: path.join(dataDir, 'cert'), keyFile: path.join(dataDir, 'key') });
    expect(peers.proxy?.url.href).toBe('https://proxy.example/');
    expect(peers.proxy?.authorization).toBe(`Basic ${Buffer.from('ann:p@ss').toString('base64')}`);
  });

  it.each<[string, Record<string, string>]>([
    ['PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE must be set together', { TLS_CERT_FILE: 'cert' }],
    ['PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE must be set together', { TLS_KEY_FILE: 'key' }],
    ['PEER_TLS_CERT_FILE cannot be read: ENOENT', { TLS_CERT_FILE: 'gone', TLS_KEY_FILE: 'key' }],
    ['PEER_TLS_KEY_FILE cannot be read: ENOENT', { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'gone' }],
    ['PEER_TLS_KEY_FILE cannot be read: EISDIR', { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: '.' }],
    ['is not the key of the first certificate', { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'other-key' }],
    ['must be in PEM', { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'encrypted' }],
    ['must be in PEM', { TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'cert' }],
    ['must be in PEM', { TLS_CERT_FILE: 'key', TLS_KEY_FILE: 'key' }],
    ['PEER_TLS_CA_FILE', { TLS_CA_FILE: 'gone' }],
    ['PEER_TLS_CA_FILE', { TLS_CA_FILE: 'garbage' }],
    ['PEER_TLS_CA_FILE', { TLS_CA_FILE: 'broken-bundle' }],
    ['PEER_PROXY_URL must be a URL that starts with', { PROXY_URL: 'socks5://ann:s3cret@proxy.example' }],
    ['PEER_PROXY_URL must be a URL that starts with', { PROXY_URL: 'ann:s3cret@proxy.example' }],
    ['PEER_PROXY_URL must be a URL without a path', { PROXY_URL: 'http://ann:s3cret@proxy.example/x' }],
    ['PEER_PROXY_URL: a % ', { PROXY_URL: 'http://ann:s3cret%@proxy.example' }],
  ])('stop the start with a line that quotes no key and no password: %s, %j', (line, given) => {
    const message = told(envOf(given));
    expect(message).toContain(line);
    const bodies = Object.values(FILES).map((text) => text.split('\n')[1] ?? text);
    for (const secret of [...bodies, 's3cret']) expect(message).not.toContain(secret);
  });

  it('stop a node with one line', async () => {
    const line = await refusal(envOf({ TLS_CERT_FILE: 'cert', TLS_KEY_FILE: 'other-key' }));
    expect(line).toMatch(/PEER_TLS_KEY_FILE \S+ is not the key of the first certificate in \S+$/);
  });
});
