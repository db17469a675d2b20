import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { BRIDGE_HEADERS, CONTENT_TYPE, signedHeaders } from '@perennial/wire/bridge';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newAuthority } from '../../service/test/webhooks/certificates.js';
import { readBridgeSettings } from '../src/settings.js';
import { debitOf, KEY, startWorld, until } from './support/world.js';

const authority = newAuthority('Ours');
const others = newAuthority('Others');
const server = authority.issue({ for: ['127.0.0.1'] });
const client = authority.issue({ for: ['service'] });

type TlsOptions = https.RequestOptions & Pick<tls.ConnectionOptions, 'session'>;

/** Sends a signed debit on a new connection. Returns the status and the body of the answer. */
async function debit(url: string, number: string, options: TlsOptions) {
  const { pathname } = new URL(`${url}/debit`);
  const body = JSON.stringify(debitOf(number));
  const signed = signedHeaders(
    { path: pathname, body: Buffer.from(body), now: Date.now(), requestId: randomUUID() },
    KEY,
  );
  const headers = { 'content-type': CONTENT_TYPE, [BRIDGE_HEADERS.idempotencyKey]: number, ...signed };
  return send(`${url}/debit`, { ...options, headers }, body);
}

function send(url: string, options: TlsOptions, body: string): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method: 'POST', agent: false, ca: authority.cert, ...options });
    request.on('error', reject);
    request.on('response', (response) => resolve(text(response).then((said) => [response.statusCode, said])));
    request.end(body);
  });
}

const startTls = (clientCa?: string) =>
  startWorld({ readCertificates: async () => ({ ...server, ...(clientCa ? { clientCa } : {}) }) });

describe('a bridge with its own certificate', () => {
  it('serves https to every client', async () => {
    const { bridge } = await startTls();
    expect(bridge.url).toMatch(/^https:/);
    expect(await debit(bridge.url, 'D1', {})).toEqual([200, expect.stringContaining('"SUCCESS"')]);
  });

  it('with TLS_CLIENT_CA_FILE serves operations only to clients with a certificate of it', async () => {
    const { bridge, institution } = await startTls(authority.cert);
    const refused = [403, '{"error":"a client certificate is required"}'];
    expect(await debit(bridge.url, 'D1', {})).toEqual(refused);
    expect(await debit(bridge.url, 'D1', others.issue({ for: ['service'] }))).toEqual(refused);
    expect(await debit(bridge.url, 'D1', authority.issue({ for: ['x'], validDays: [-9, -1] }))).toEqual(refused);
    expect(institution.calls).toEqual([]);
    expect(await debit(bridge.url, 'D1', client)).toEqual([200, expect.stringContaining('"SUCCESS"')]);
  });

  it('refuses a client without a certificate before its body has arrived', async () => {
    const { bridge } = await startTls(authority.cert);
    const headers = { 'content-type': CONTENT_TYPE, 'content-length': '1000' };
    const request = https.request(`${bridge.url}/debit`, { method: 'POST', agent: false, ca: authority.cert, headers });
    onTestFinished(() => void request.destroy());
    const status = await new Promise((resolve, reject) => {
      request.on('error', reject).on('response', ({ statusCode }) => resolve(statusCode));
      request.flushHeaders();
    });
    expect(status).toBe(403);
  });

  it('refuses a client without a certificate that resumes its session', async () => {
    const { bridge } = await startTls(authority.cert);
    const { port } = new URL(bridge.url);
    const first = tls.connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    onTestFinished(() => void first.destroy());
    const session = await new Promise<Buffer>((resolve) => first.resume().once('session', resolve));
    expect((await debit(bridge.url, 'D1', { session }))[0]).toBe(403);
  });

  it('takes webhooks of the institution without a client certificate', async () => {
    const { bridge } = await startTls(authority.cert);
    const headers = { 'x-fake-signature': 'good', 'content-type': 'application/json' };
    expect((await send(`${bridge.url}/webhooks`, { headers }, '[]'))[0]).toBe(200);
  });

  it('uses renewed certificates without a restart, and keeps the old ones if the new ones are unusable', async () => {
    let current: () => typeof server = () => server;
    const world = await startWorld({ readCertificates: async () => current(), idleMs: 1 });
    const { bridge } = world;
    current = () => {
      throw new Error('the files do not match');
    };
    await until('the line about unusable files', () => world.log().includes('renewed certificates cannot be used'));
    expect((await debit(bridge.url, 'D1', {}))[0]).toBe(200);
    const renewed = others.issue({ for: ['127.0.0.1'] });
    current = () => renewed;
    await until('the renewed certificate', () => world.log().includes('renewed certificates are used'));
    expect((await debit(bridge.url, 'D1', { ca: others.cert }))[0]).toBe(200);
  });
});

describe('the settings of certificates', () => {
  it('name the wrong file and never quote a key', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-tls-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const fileOf = async (name: string, content: string) => {
      const file = path.join(folder, name);
      await writeFile(file, content);
      return file;
    };
    const own = {
      TLS_CERT_FILE: await fileOf('cert', server.cert),
      TLS_KEY_FILE: await fileOf('key', server.key),
      TLS_CLIENT_CA_FILE: await fileOf('ca', authority.cert),
    };
    const env = { BRIDGE_KEY_FILE: await fileOf('bridge-key', KEY.toString('base64')), DATABASE_URL: 'postgres://x' };
    const read = async (more: object) => (await readBridgeSettings({ ...env, ...more })).readCertificates?.();
    expect(await read({})).toBeUndefined();
    expect(Object.keys((await read(own)) ?? {})).toEqual(['cert', 'key', 'clientCa']);
    const wrong: readonly [string, object][] = [
      ['TLS_KEY_FILE is not set', { ...own, TLS_KEY_FILE: '' }],
      ['TLS_CERT_FILE is not set', { TLS_CLIENT_CA_FILE: own.TLS_CLIENT_CA_FILE }],
      ['TLS_CERT_FILE: ', { ...own, TLS_CERT_FILE: `${folder}/gone` }],
      ['TLS_KEY_FILE is not the key of', { ...own, TLS_KEY_FILE: await fileOf('other', client.key) }],
      ['TLS_KEY_FILE: ', { ...own, TLS_KEY_FILE: await fileOf('half', server.key.slice(0, 80)) }],
      ['TLS_CLIENT_CA_FILE: ', { ...own, TLS_CLIENT_CA_FILE: own.TLS_KEY_FILE }],
    ];
    for (const [line, settings] of wrong) {
      const message = await read(settings).then(String, (error: Error) => error.message);
      expect(message).toContain(line);
      expect(message).not.toContain(server.key.split('\n')[1]);
    }
  });
});
