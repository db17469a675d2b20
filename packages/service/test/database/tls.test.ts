import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedDatabase, openEmbedded } from '@perennial/embedded-postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { readDatabaseUrl } from '../../src/platform/db/database-url.js';
import { DestroyableClient } from '../../src/platform/db/destroyable-client.js';
import { openingRefusal } from '../support/opening-refusal.js';
import { MAIN, type Running, serviceUrl, start, until } from '../support/processes.js';
import { type Authority, newAuthority, selfSigned } from '../webhooks/certificates.js';

/**
 * A real PostgreSQL with a certificate for 127.0.0.1 and db.test. A test can choose to trust the certificate's
 * authority.
 */
let folder: string;
let server: EmbeddedDatabase;
let admin: Database;
let ours: Authority;
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-tls-'));
  server = await openEmbedded({ dataDir: path.join(folder, 'data'), role: 'tool', log: () => undefined });
  admin = openDatabase({ url: server.url, pool: 1, name: 'test' });
  ours = newAuthority();
  await present(ours.issue({ for: ['127.0.0.1', 'db.test'] }));
  await writeFile(file('ours.pem'), ours.cert);
  await writeFile(file('theirs.pem'), newAuthority('Somebody else').cert);
  const own = ours.issue({ for: ['client'] });
  await writeFile(file('client.pem'), own.cert);
  await writeFile(file('client.key'), own.key);
  const foreign = selfSigned({ for: ['client'] });
  await writeFile(file('foreign.pem'), foreign.cert);
  await writeFile(file('foreign.key'), foreign.key);
});
afterAll(async () => {
  await admin.close();
  await server.release();
  await rm(folder, { recursive: true, force: true });
});

/** Gives the server this certificate, and the authority `ours` for client certificates. */
async function present({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> {
  const data = path.join(folder, 'data', 'postgres');
  const { uid, gid } = await stat(path.join(data, 'PG_VERSION'));
  for (const [name, content] of Object.entries({ 'server.crt': cert, 'server.key': key, 'root.crt': ours.cert })) {
    await writeFile(path.join(data, name), content, { mode: 0o600 });
    await chown(path.join(data, name), uid, gid);
  }
  await admin.query(`alter system set ssl_ca_file = 'root.crt'`);
  await admin.query('alter system set ssl = on');
  await admin.query('select pg_reload_conf()');
  await until('a server with TLS', async () => {
    const [row] = await admin.query<{ ssl: string }>(`select current_setting('ssl') as ssl`);
    return row?.ssl === 'on';
  });
}

const addressed = (parameters: Record<string, string>, host = '127.0.0.1') => {
  const url = new URL(server.url);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

/** Returns whether the server sees the connection as encrypted. */
async function isEncrypted(parameters: Record<string, string>, host?: string): Promise<boolean | undefined> {
  const database = openDatabase({ url: addressed(parameters, host), pool: 2, name: 'tls' });
  try {
    const [row] = await database.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return row?.ssl;
  } finally {
    await database.close();
  }
}

const root = (name: string) => ({ sslrootcert: file(name) });

describe('sslmode', () => {
  it.each<[string, Record<string, string>, string, boolean]>([
    ['unset: not encrypted', {}, '127.0.0.1', false],
    ['disable: not encrypted', { sslmode: 'disable' }, '127.0.0.1', false],
    ['require: encrypted, any certificate', { sslmode: 'require' }, 'localhost', true],
    ['verify-ca under another name', { sslmode: 'verify-ca' }, 'localhost', true],
    ['verify-full', { sslmode: 'verify-full' }, '127.0.0.1', true],
    ['require with an authority, as verify-ca', { sslmode: 'require' }, 'localhost', true],
  ])('%s', async (which, parameters, host, encrypted) => {
    const trusted = /^verify|authority/.test(which) ? root('ours.pem') : {};
    expect(await isEncrypted({ ...parameters, ...trusted }, host)).toBe(encrypted);
  });

  it.each<[string, string, string, string, RegExp]>([
    ['verify-ca', 'another authority', '127.0.0.1', 'theirs.pem', /SELF_SIGNED|UNABLE_TO_VERIFY|certificate/i],
    ['require', 'another authority', '127.0.0.1', 'theirs.pem', /SELF_SIGNED|UNABLE_TO_VERIFY|certificate/i],
    ['verify-full', 'another authority', '127.0.0.1', 'theirs.pem', /SELF_SIGNED|UNABLE_TO_VERIFY|certificate/i],
    ['verify-full', 'another name', 'localhost', 'ours.pem', /ERR_TLS_CERT_ALTNAME_INVALID/],
  ])('%s refuses %s', async (sslmode, _what, host, authority, why) => {
    await expect(isEncrypted({ sslmode, ...root(authority) }, host)).rejects.toThrow(why);
  });

  it('verify-full without sslrootcert trusts only Node’s authorities, which do not include this one', async () => {
    await expect(isEncrypted({ sslmode: 'verify-full' })).rejects.toThrow(/UNABLE_TO|SELF_SIGNED/);
  });
});

it('pending statements fail when the socket below TLS is destroyed', async () => {
  const { settings: _settings, ...address } = readDatabaseUrl(addressed({ sslmode: 'require' }));
  const client = new DestroyableClient(address);
  client.on('error', () => undefined);
  await client.connect();
  const waiting = client.query('select pg_sleep(50)');
  client.destroy();
  await expect(waiting).rejects.toThrow('Connection terminated');
});

describe('a server that asks for a client certificate', () => {
  const client = (name: string) => ({ sslcert: file(`${name}.pem`), sslkey: file(`${name}.key`) });
  const hba = () => path.join(folder, 'data', 'postgres', 'pg_hba.conf');
  let before: string;
  beforeAll(async () => {
    before = await readFile(hba(), 'utf8');
    await writeFile(hba(), `hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n${before}`);
    await admin.query('select pg_reload_conf()');
  });
  afterAll(async () => {
    await writeFile(hba(), before);
    await admin.query('select pg_reload_conf()');
  });

  it('takes one of its authority', async () => {
    expect(await isEncrypted({ sslmode: 'verify-full', ...root('ours.pem'), ...client('client') })).toBe(true);
  });

  it.each<[string, () => Record<string, string>]>([
    ['none', () => ({})],
    ['one of an unknown authority', () => client('foreign')],
  ])('refuses %s', async (_which, shown) => {
    await expect(isEncrypted({ sslmode: 'require', ...shown() })).rejects.toThrow('database unavailable');
  });
});

describe('a service', () => {
  const serve = (parameters: Record<string, string>): Running =>
    start(MAIN, { PORT: '0', DATA_DIR: path.join(folder, 'own'), DATABASE_URL: addressed(parameters) });

  it('starts over TLS without a warning', async () => {
    const running = serve({ sslmode: 'verify-ca', ...root('ours.pem') });
    await serviceUrl(running);
    running.child.kill('SIGTERM');
    await running.exited;
    expect(running.stderr()).not.toMatch(/warning/i);
  });

  it.each<[string, Record<string, string>, string, RegExp]>([
    ['authority', { sslmode: 'verify-full' }, '127.0.0.1', /TLS to the server failed: .*certificate/],
    ['name', { sslmode: 'verify-full' }, 'localhost', /TLS to the server failed: Hostname\/IP does not match/],
  ])('stops with one line if the certificate is of another %s', async (which, parameters, host, why) => {
    const shown = root(which === 'name' ? 'ours.pem' : 'theirs.pem');
    const url = addressed({ ...parameters, ...shown }, host);
    expect(await openingRefusal({ DATA_DIR: path.join(folder, 'own'), DATABASE_URL: url })).toMatch(why);
  });

  it('stops with one line if the server offers no TLS', async () => {
    await admin.query('alter system set ssl = off');
    await admin.query('select pg_reload_conf()');
    await until('a server without TLS', async () => {
      const [row] = await admin.query<{ ssl: string }>(`select current_setting('ssl') as ssl`);
      return row?.ssl === 'off';
    });
    const running = serve({ sslmode: 'require' });
    expect(await running.exited).toBe(1);
    expect(running.stderr().trim()).toBe('perennial: DATABASE_URL: the server offers no TLS, and sslmode asks for it');
  });
});
