import { chmodSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { locateBinaries } from '../src/binaries.js';
import { type EmbeddedDatabase, FolderInUse, openEmbedded } from '../src/index.js';
import {
  answers,
  asRoot,
  cleanUp,
  isAlive,
  openTool,
  otherProcess,
  postmasterPid,
  query,
  serverUids,
  temporaryFolder,
  track,
} from './support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const quiet = (): void => undefined;

describe('an embedded database', () => {
  const dataDir = join(temporaryFolder(), 'data');
  const data = join(dataDir, 'postgres');
  const lines: string[] = [];
  let database: EmbeddedDatabase;

  beforeAll(async () => {
    database = track(
      await openEmbedded({
        dataDir,
        role: 'service',
        log: (line) => lines.push(line),
        description: 'pid 7, port 8080',
      }),
    );
  });
  afterAll(cleanUp);

  it('logs what it does on the first start', () => {
    expect(lines).toEqual(['creating the database', expect.stringMatching(/^starting the database/)]);
  });

  it('is durable, checked, UTF-8 and on Beijing time', async () => {
    const [row] = await query(
      database.url,
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
              current_setting('synchronous_commit') as synchronous_commit, current_setting('data_checksums') as checksums,
              current_setting('server_encoding') as encoding, current_setting('timezone') as timezone,
              current_setting('password_encryption') as passwords, current_database() as database, current_user as user`,
    );
    expect(row).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      checksums: 'on',
      encoding: 'UTF8',
      timezone: 'Asia/Shanghai',
      passwords: 'scram-sha-256',
      database: 'perennial',
      user: 'perennial',
    });
  });

  it('requires its password', async () => {
    const wrong = new URL(database.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    wrong.password = '';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password/);
  });

  it('keeps the password readable only by the owner, and out of the command line and the log', () => {
    const { password } = new URL(database.url);
    expect(password.length).toBeGreaterThan(30);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'postgres-password')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).not.toContain(password);
    expect(readFileSync(join(data, 'postmaster.opts'), 'utf8')).not.toContain(password);
    expect(lines.join('\n')).not.toContain(password);
  });

  it('listens on 127.0.0.1 and nowhere else', async () => {
    const port = Number(new URL(database.url).port);
    // On Linux every address in 127.0.0.0/8 is this machine, so 127.0.0.2 can always be tested.
    const others = process.platform === 'linux' ? ['127.0.0.2', '::1'] : ['::1'];
    const reachable = (host: string) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ host, port }, () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      });
    expect(await reachable('127.0.0.1')).toBe(true);
    for (const host of others) expect([host, await reachable(host)]).toEqual([host, false]);
    const [doors] = await query(
      database.url,
      `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as folders`,
    );
    expect(doors).toEqual({ addresses: '127.0.0.1', folders: '' });
  });

  it('runs under a uid that is not root', () => {
    const uids = serverUids(data);
    if (asRoot) expect([uids.size, uids.has(0)]).toEqual([1, false]);
    else expect(uids).toEqual(new Set([process.getuid?.()]));
  });

  it('runs in a session of its own, so that Ctrl-C does not reach it', () => {
    const session = (pid: number) =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[3];
    if (process.platform === 'linux') expect(session(postmasterPid(data))).toBe(String(postmasterPid(data)));
  });

  it('refuses a second service with one line about the first, which is unaffected', async () => {
    const before = postmasterPid(data);
    const refusal = await openEmbedded({ dataDir, role: 'service', log: quiet }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(FolderInUse);
    expect(String((refusal as Error).message)).toBe(
      `the data folder ${dataDir} is in use by another service (pid 7, port 8080): ` +
        'stop that one, or choose another DATA_DIR',
    );
    const elsewhere = await otherProcess(dataDir, 'service');
    expect(elsewhere.said).toContain('error FolderInUse: the data folder');
    expect(postmasterPid(data)).toBe(before);
    await answers(database.url);
  });

  it('serves tools beside the service; the last user stops the server', async () => {
    const tool = await otherProcess(dataDir, 'tool');
    const second = await openTool(dataDir);
    expect([tool.said, second.url]).toEqual([database.url, database.url]);
    const pid = postmasterPid(data);
    await Promise.all([second.release(), database.release()]);
    await database.release(); // once more does nothing
    await answers(tool.said);
    expect(isAlive(pid)).toBe(true);
    await tool.finish();
    expect(isAlive(pid)).toBe(false);
    await expect(query(database.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('keeps data and port over a restart, opened by a tool alone', async () => {
    const first = await openTool(dataDir);
    await query(first.url, `create table kept as select 'still here' as what`);
    const pid = postmasterPid(data);
    await first.release();
    expect(isAlive(pid)).toBe(false);
    const second = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select what from kept')).toEqual([{ what: 'still here' }]);
    await second.release();
  });
});

describe('several tools at once on an empty folder', () => {
  afterAll(cleanUp);

  it('all succeed on one server', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const processes = [1, 2].map(() => otherProcess(dataDir, 'tool'));
    const opened = await Promise.all([1, 2, 3].map(() => openTool(dataDir)));
    const others = await Promise.all(processes);
    const urls = new Set([...opened.map(({ url }) => url), ...others.map(({ said }) => said)]);
    expect([...urls]).toEqual([opened[0]?.url]);
    const pid = postmasterPid(join(dataDir, 'postgres'));
    await Promise.all([...opened.map((database) => database.release()), ...others.map((other) => other.finish())]);
    expect(isAlive(pid)).toBe(false);
  });
});

describe('where there are no binaries', () => {
  it('says what to do instead', async () => {
    await expect(locateBinaries('win32-x64')).rejects.toThrow(
      'no embedded PostgreSQL for win32-x64: set DATABASE_URL to a PostgreSQL 15 or newer',
    );
  });
});

describe('where the path of the binaries has a character that initdb gives to a shell', () => {
  afterAll(cleanUp);

  it.each(['$', '"', '`'])('names %s, and creates nothing', async (character) => {
    const home = join(temporaryFolder(), `a${character}b`);
    const native = join(home, 'native');
    const dataDir = join(temporaryFolder(), 'data');
    const { native: installed } = await locateBinaries(`${process.platform}-${process.arch}`);
    cpSync(installed, native, { recursive: true, verbatimSymlinks: true });
    chmodSync(home, 0o755);
    await expect(openEmbedded({ dataDir, role: 'tool', log: () => undefined }, { native })).rejects.toThrow(
      `PostgreSQL cannot create a database from ${native}, because the path contains ${character}: `,
    );
    expect(readdirSync(dataDir)).not.toContain('postgres');
  });
});
