import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { type EmbeddedDatabase, type EmbeddedOptions, type FolderInUse, openEmbedded } from '../src/index.js';
import {
  answers,
  cleanUp,
  dropPrepared,
  family,
  isAlive,
  kill,
  openTool,
  otherProcess,
  postmasterPid,
  preparedDataDir,
  query,
  temporaryFolder,
  track,
} from './support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

afterEach(cleanUp);
afterAll(dropPrepared);

const NOT_BACK = /^the database has not recovered yet/;

/** Starts a service in a new folder and records its log lines. */
async function startService(more: Partial<EmbeddedOptions> = {}) {
  const dataDir = await preparedDataDir();
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const database = track(await openEmbedded({ dataDir, role: 'service', log, ...more }));
  const count = (line: string) => lines.filter((one) => one === line).length;
  return { dataDir, data: join(dataDir, 'postgres'), lines, count, database };
}

/** Kills a server and breaks its settings, so that it cannot start until they are repaired. */
async function breakServer({ data, lines }: { readonly data: string; readonly lines: string[] }): Promise<() => void> {
  const settings = join(data, 'postgresql.conf');
  const good = readFileSync(settings, 'utf8');
  writeFileSync(settings, `${good}\nshared_buffers = nonsense\n`);
  for (const pid of family(data)) kill(pid);
  await expect.poll(() => lines.some((line) => NOT_BACK.test(line))).toBe(true);
  return () => writeFileSync(settings, good);
}

const openService = (dataDir: string): Promise<EmbeddedDatabase> =>
  openEmbedded({ dataDir, role: 'service', log: () => undefined });

it('kill -9 of the server: it is restarted on the same port, with everything committed', async () => {
  const { dataDir, data, lines, count, database } = await startService();
  await query(database.url, 'create table paid as select 4200 as cents');

  // First kills all processes of the server, then only the postmaster, whose children notice its death with a delay.
  for (const share of [undefined, 1]) {
    const url = database.url;
    const restarts = count('database restarted');
    for (const pid of family(data).slice(0, share)) kill(pid);
    await expect.poll(() => count('database restarted')).toBeGreaterThan(restarts);
    expect(database.url).toBe(url);
    expect(await query(url, 'select cents from paid')).toEqual([{ cents: 4200 }]);
  }
  // The outage and the recovery are each logged once; the attempts are not logged.
  expect(lines.slice(1)).toEqual([
    'the database has gone away, bringing it back',
    'database restarted',
    'the database has gone away, bringing it back',
    'database restarted',
  ]);
  // A second service is still refused.
  await expect(openService(dataDir)).rejects.toThrow(/in use by another service/);

  const pid = postmasterPid(data);
  await database.release();
  expect(isAlive(pid)).toBe(false);
});

it('kill -9 of one server process: the server restarts itself, and the locks are taken again', async () => {
  const { dataDir, data, count } = await startService();
  const [postmaster, child] = family(data);
  kill(child ?? 0);
  await expect.poll(() => count('database restarted')).toBe(1);
  expect(postmasterPid(data)).toBe(postmaster);
  await expect(openService(dataDir)).rejects.toThrow(/in use by another service/);
});

it('kill -9 of the service: the next one adopts the running server', async () => {
  const dataDir = await preparedDataDir();
  const other = await otherProcess(dataDir, 'service');
  await query(other.said, 'create table paid as select 4200 as cents');
  const server = postmasterPid(join(dataDir, 'postgres'));
  kill(other.pid);
  await expect.poll(() => isAlive(other.pid)).toBe(false);
  expect(isAlive(server)).toBe(true);

  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  // The dead service's lock ends with its connection. The server notices the end of the connection with a delay.
  const database = await vi.waitUntil(
    () => openEmbedded({ dataDir, role: 'service', log }).catch(() => undefined),
    60_000,
  );
  track(database);
  expect(lines).toEqual([]);
  expect(database.url).toBe(other.said);
  expect(postmasterPid(join(dataDir, 'postgres'))).toBe(server);
  expect(await query(database.url, 'select cents from paid')).toEqual([{ cents: 4200 }]);
  await database.release();
  expect(isAlive(server)).toBe(false);
});

it('kill -9 of everything: the next start recovers', async () => {
  const dataDir = await preparedDataDir();
  const other = await otherProcess(dataDir, 'service');
  await query(other.said, 'create table paid as select 4200 as cents');
  const everything = [other.pid, ...family(join(dataDir, 'postgres'))];
  for (const pid of everything) kill(pid);
  await expect.poll(() => everything.some(isAlive)).toBe(false);

  const database = track(await openService(dataDir));
  expect(await query(database.url, 'select cents from paid')).toEqual([{ cents: 4200 }]);
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('automatic recovery in progress');
});

it('a reboot: the old pid now belongs to another process, and the port to another server', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const first = await openTool(dataDir);
  const pidFile = readFileSync(join(data, 'postmaster.pid'), 'utf8');
  await first.release();

  // Writes this test's own pid, as an example of a process that is not the folder's server.
  writeFileSync(join(data, 'postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));
  const squatter = createServer();
  const port = Number(new URL(first.url).port);
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
  try {
    const second = await openTool(dataDir);
    expect(new URL(second.url).port).not.toBe(String(port));
    await answers(second.url);
  } finally {
    squatter.close();
  }
});

it('a power cut: postmaster.pid exists and is empty', async () => {
  const dataDir = await preparedDataDir();
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), '');
  await answers((await openTool(dataDir)).url);
});

it('a crash during the creation leaves nothing behind', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(join(dataDir, 'postgres.new-999999999-abcd', 'base'), { recursive: true });
  await answers((await openTool(dataDir)).url);
  expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
});

it('a server that cannot start is retried until it can, with one log line', async () => {
  const service = await startService();
  const repair = await breakServer(service);
  repair();
  await expect.poll(() => service.count('database restarted')).toBe(1);
  expect(service.lines.filter((line) => NOT_BACK.test(line))).toHaveLength(1);
  await answers(service.database.url);
});

it('released while the server is down: the retries stop', async () => {
  const service = await startService();
  await breakServer(service);
  await service.database.release();
  await expect(openService(service.dataDir)).rejects.toThrow(/does not start: .+postgres\.log/);
});

it('a service whose folder was taken over after a crash is notified', async () => {
  let told: FolderInUse | undefined;
  const service = await startService({
    onTakenOver: (error) => {
      told = error;
    },
  });
  // Delays the first service's recovery, so that the second service can take the folder first.
  const repair = await breakServer(service);
  repair();
  const second = await otherProcess(service.dataDir, 'service', 'the second');
  if (second.said.startsWith('postgres:')) {
    await expect.poll(() => told?.message).toContain('in use by another service (the second)');
  } else {
    // The first service recovered before the second one started, so the second one is refused.
    expect(second.said).toContain('in use by another service');
    expect(told).toBeUndefined();
  }
});
