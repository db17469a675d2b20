import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { type FolderInUse, openEmbedded } from '../src/index.js';
import {
  cleanUp,
  dropPrepared,
  family,
  isAlive,
  kill,
  otherProcess,
  postmasterPid,
  preparedDataDir,
  query,
  temporaryFolder,
  track,
  until,
} from './support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const quiet = (): void => undefined;

afterEach(cleanUp);
afterAll(dropPrepared);

it('kill -9 of the server: the keeper brings it back on the same port, with everything committed', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const lines: string[] = [];
  const database = track(await openEmbedded({ dataDir, role: 'service', log: (line) => lines.push(line) }));
  await query(database.url, 'create table paid as select 4200 as cents');

  // First everything at once, then the postmaster alone, whose children take a moment to notice.
  for (const share of [undefined, 1]) {
    const url = database.url;
    const restarts = lines.filter((line) => line === 'database restarted').length;
    for (const pid of family(data).slice(0, share)) kill(pid);
    await until(() => lines.filter((line) => line === 'database restarted').length > restarts);
    expect(database.url).toBe(url);
    expect(await query(url, 'select cents from paid')).toEqual([{ cents: 4200 }]);
  }
  // One line for going, one for coming back, none for each try.
  expect(lines.slice(1)).toEqual([
    'the database has gone away, bringing it back',
    'database restarted',
    'the database has gone away, bringing it back',
    'database restarted',
  ]);
  // And the folder is still ours alone.
  await expect(openEmbedded({ dataDir, role: 'service', log: quiet })).rejects.toThrow(/in use by another service/);

  const pid = postmasterPid(data);
  await database.release();
  expect(isAlive(pid)).toBe(false);
});

it('kill -9 of one server process: the server restarts itself, and the keeper takes its locks again', async () => {
  const dataDir = await preparedDataDir();
  const lines: string[] = [];
  track(await openEmbedded({ dataDir, role: 'service', log: (line) => lines.push(line) }));
  const [postmaster, child] = family(join(dataDir, 'postgres'));
  kill(child ?? 0);
  await until(() => lines.includes('database restarted'));
  expect(postmasterPid(join(dataDir, 'postgres'))).toBe(postmaster);
  await expect(openEmbedded({ dataDir, role: 'service', log: quiet })).rejects.toThrow(/in use by another service/);
});

it('kill -9 of the service: the next one adopts the running server', async () => {
  const dataDir = await preparedDataDir();
  const other = await otherProcess(dataDir, 'service');
  await query(other.said, 'create table paid as select 4200 as cents');
  const server = postmasterPid(join(dataDir, 'postgres'));
  kill(other.pid);
  await until(() => !isAlive(other.pid));
  expect(isAlive(server)).toBe(true);

  const lines: string[] = [];
  // The dead service's lock ends with its connection, which the server notices on its own time.
  let next: Awaited<ReturnType<typeof openEmbedded>> | undefined;
  await until(async () => {
    next = await openEmbedded({ dataDir, role: 'service', log: (line) => lines.push(line) }).catch(() => undefined);
    return next !== undefined;
  });
  const database = track(next as NonNullable<typeof next>);
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
  await until(() => everything.every((pid) => !isAlive(pid)));

  const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
  expect(await query(database.url, 'select cents from paid')).toEqual([{ cents: 4200 }]);
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('automatic recovery in progress');
});

it('a reboot: the old server number now belongs to another process, and the port to another server', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const first = track(await openEmbedded({ dataDir, role: 'tool', log: quiet }));
  const pidFile = readFileSync(join(data, 'postmaster.pid'), 'utf8');
  await first.release();

  // This test's own number stands for any process that is no server of the folder.
  writeFileSync(join(data, 'postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));
  const squatter = createServer();
  const port = Number(new URL(first.url).port);
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
  try {
    const second = track(await openEmbedded({ dataDir, role: 'tool', log: quiet }));
    expect(new URL(second.url).port).not.toBe(String(port));
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  } finally {
    squatter.close();
  }
});

it('a crash while creating leaves nothing in the way, and nothing behind', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(join(dataDir, 'postgres.new-999999999-abcd', 'base'), { recursive: true });
  const database = track(await openEmbedded({ dataDir, role: 'tool', log: quiet }));
  expect(await query(database.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres-password', 'postgres-port', 'postgres.log']);
});

it('a server that cannot start is tried until it can, and says why once', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const lines: string[] = [];
  const database = track(await openEmbedded({ dataDir, role: 'service', log: (line) => lines.push(line) }));
  const settings = readFileSync(join(data, 'postgresql.conf'), 'utf8');
  writeFileSync(join(data, 'postgresql.conf'), `${settings}\nshared_buffers = nonsense\n`);
  for (const pid of family(data)) kill(pid);
  await until(() => lines.some((line) => line.startsWith('the database is not back yet')));
  writeFileSync(join(data, 'postgresql.conf'), settings);
  await until(() => lines.includes('database restarted'));
  expect(lines.filter((line) => line.startsWith('the database is not back yet'))).toHaveLength(1);
  expect(await query(database.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('released while the server is down: the keeper stops trying', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const lines: string[] = [];
  const database = track(await openEmbedded({ dataDir, role: 'service', log: (line) => lines.push(line) }));
  const settings = join(data, 'postgresql.conf');
  writeFileSync(settings, `${readFileSync(settings, 'utf8')}\nshared_buffers = nonsense\n`);
  for (const pid of family(data)) kill(pid);
  await until(() => lines.some((line) => line.startsWith('the database is not back yet')));
  await database.release();
  await expect(openEmbedded({ dataDir, role: 'service', log: quiet })).rejects.toThrow(
    /does not start: .+postgres\.log/,
  );
});

it('a service that finds its folder taken over after a crash is told so', async () => {
  const dataDir = await preparedDataDir();
  const data = join(dataDir, 'postgres');
  const settings = join(data, 'postgresql.conf');
  let told: FolderInUse | undefined;
  const lines: string[] = [];
  track(
    await openEmbedded({
      dataDir,
      role: 'service',
      log: (line) => lines.push(line),
      onTakenOver: (error) => {
        told = error;
      },
    }),
  );
  // Keeps the first service from being the quicker one.
  const good = readFileSync(settings, 'utf8');
  writeFileSync(settings, `${good}\nshared_buffers = nonsense\n`);
  for (const pid of family(data)) kill(pid);
  await until(() => lines.some((line) => line.startsWith('the database is not back yet')));
  writeFileSync(settings, good);
  const second = await otherProcess(dataDir, 'service', 'the second');
  if (second.said.startsWith('postgres:')) {
    await until(() => told !== undefined);
    expect(told?.message).toContain('in use by another service (the second)');
  } else {
    // The first one was back before: then the second is the one that is refused.
    expect(second.said).toContain('in use by another service');
    expect(told).toBeUndefined();
  }
});
