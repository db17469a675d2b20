import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { type EmbeddedDatabase, openEmbedded } from '@perennial/embedded-postgres';
import { afterEach, expect, it } from 'vitest';
import { type ChannelClient, channelClient, send } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { MAIN, postmasterPid, processTree, type Running, serviceUrl, start, until } from '../support/processes.js';

const folders: string[] = [];
const services: Running[] = [];
const servers: EmbeddedDatabase[] = [];
afterEach(async () => {
  for (const { child } of services.splice(0)) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await new Promise((resolve) => child.once('close', resolve));
  }
  for (const server of servers.splice(0)) await server.release();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const made = await preparedDataDir();
  folders.push(made);
  return made;
}

async function serve(
  env: Record<string, string>,
): Promise<{ running: Running; baseUrl: string; client: ChannelClient }> {
  const running = start(MAIN, { PORT: '0', LOG_LEVEL: 'info', ...env });
  services.push(running);
  const baseUrl = await serviceUrl(running);
  const demo = await until('the demo channel', () =>
    readFile(path.join(env['DATA_DIR'] ?? '', 'demo-channel.json'), 'utf8').catch(() => undefined),
  );
  return { running, baseUrl, client: channelClient(baseUrl, JSON.parse(demo)) };
}

it('DATABASE_URL becomes unreachable: 503001 and not ready meanwhile, recovers without a restart', async () => {
  const dataDir = await folder();
  const serverDir = await folder();
  const openServer = () => openEmbedded({ dataDir: serverDir, role: 'tool', log: () => undefined });
  const server = await openServer();
  const { running, baseUrl, client } = await serve({ DATA_DIR: dataDir, DATABASE_URL: server.url });
  expect((await client.call('products/list', {})).code).toBe('0');

  await server.release();
  const away = await client.call('products/list', {}, { requestId: 'while-away' });
  expect(away.status).toBe(503);
  expect(away.envelope).toEqual({
    code: '503001',
    message: expect.any(String),
    data: null,
    requestId: 'while-away',
    timestamp: expect.any(String),
    success: false,
  });
  expect(away.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/);
  await until('the log line with the request id', () => running.stdout().includes('while-away'));
  expect((await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status).toBe(503);
  expect((await send(baseUrl, 'GET', '/healthz', {}, Buffer.alloc(0))).status).toBe(200);

  // The failures recur every second and for every request, but the log has one line for each cause.
  const lines = running
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const faults = lines.filter(({ level }) => level !== 'info');
  expect(faults.filter(({ cause }) => cause === 'the database is away')).toHaveLength(1);
  expect(new Set(faults.map(({ cause }) => cause)).size).toBe(faults.length);

  servers.push(await openServer());
  await until('ready again', async () => (await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status === 200);
  expect((await client.call('products/list', {})).code).toBe('0');
  expect(running.child.exitCode).toBeNull();
});

it('DATABASE_URL is not reachable yet: one log line, retries, and serves when it is', async () => {
  const dataDir = await folder();
  const serverDir = await folder();
  const first = await openEmbedded({ dataDir: serverDir, role: 'tool', log: () => undefined });
  const { url } = first;
  await first.release();
  const running = start(MAIN, { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: url });
  services.push(running);
  await until('the message', () => /cannot be reached .*retrying in \d+ s/.test(running.stderr()));
  expect(running.stderr()).not.toMatch(/\n\s+at /);
  expect(running.stderr()).not.toContain(new URL(url).password);
  servers.push(await openEmbedded({ dataDir: serverDir, role: 'tool', log: () => undefined }));
  await serviceUrl(running);
});

it('kill -9 of the embedded server: the service restarts it automatically', async () => {
  const dataDir = await folder();
  const { running, client } = await serve({ DATA_DIR: dataDir, MASTER_KEY: randomBytes(32).toString('base64') });
  expect((await client.call('products/list', {})).code).toBe('0');
  const before = postmasterPid(dataDir);
  for (const pid of processTree(before)) process.kill(pid, 'SIGKILL');
  await until('well again', async () => (await client.call('products/list', {})).code === '0');
  expect(postmasterPid(dataDir)).not.toBe(before);
  expect(running.child.exitCode).toBeNull();
});
