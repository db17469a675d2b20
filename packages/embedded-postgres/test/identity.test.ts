import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { locateBinaries } from '../src/binaries.js';
import { openEmbedded } from '../src/embedded.js';
import {
  asRoot,
  cleanUp,
  dropPrepared,
  family,
  preparedDataDir,
  query,
  serverUids,
  temporaryFolder,
  track,
} from './support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const quiet = (): void => undefined;

afterEach(cleanUp);
afterAll(dropPrepared);

async function answers(url: string): Promise<void> {
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
}

const uids = (dataDir: string): Set<number> => serverUids(join(dataDir, 'postgres'));

function uidOf(dataDir: string): number {
  const [uid, ...others] = uids(dataDir);
  expect(others).toEqual([]);
  return uid ?? -1;
}

function processesUnder(uid: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return new RegExp(`^Uid:.*\\b${uid}\\b`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false; // it has ended
    }
  });
}

/** A process of nobody that tries what it can, and says what came of it in lines of JSON. */
function spawnIntruder(task: 'try' | 'watch', about: object): { heard(): Promise<unknown>; end(): void } {
  const script = readFileSync(new URL('./intruder.mjs', import.meta.url), 'utf8');
  // This Node may be installed where only its owner may go.
  const node = join(temporaryFolder(), 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  const child = spawn(node, ['--input-type=module', '-e', script, task, JSON.stringify(about)], {
    cwd: '/',
    uid: nobody(),
    gid: nobody(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    heard: async () => JSON.parse((await lines.next()).value as string),
    end: () => child.stdin.end(),
  };
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

const nobody = (): number => Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));

// Which of the two applies is a fact of the run, not a skipped test: the other one is not even there.
if (asRoot)
  describe('as root', () => {
    it('the server has a uid that no account and no other process has, also below a folder that only root enters', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      await answers(database.url);
      const uid = uidOf(dataDir);
      expect(() => execFileSync('id', [String(uid)], { stdio: 'ignore' })).toThrow();
      expect(new Set(processesUnder(uid).map(workingFolder).filter(Boolean))).toEqual(
        new Set([join(dataDir, 'postgres')]),
      );
      expect(statSync(dataDir).uid).toBe(0);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    });

    it('a process of nobody can neither signal the server, nor read its memory and files, nor connect without the password', async () => {
      const dataDir = await preparedDataDir();
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      chmodSync(dataDir, 0o755); // as if an operator had made it
      const [postmaster, child] = family(join(dataDir, 'postgres'));
      const names = ['postgres', 'postgres/PG_VERSION', 'postgres/base', 'postgres-password', 'postgres.log'];
      const intruder = spawnIntruder('try', {
        pids: [postmaster, child],
        files: names.map((name) => join(dataDir, name)),
        port: Number(new URL(database.url).port),
      });
      expect(await intruder.heard()).toEqual({ uid: nobody(), signalled: [], read: [], asked: 'SASL authentication' });
      await answers(database.url);
    });

    it('nor can it while the database is being made, by an initdb that wants a user with a name', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      mkdirSync(dataDir, { mode: 0o755 });
      const intruder = spawnIntruder('watch', { parent: process.pid, dataDir });
      expect(await intruder.heard()).toBe('ready');
      track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      intruder.end();
      // A child is seen under its parent's name until it has become what it was started for.
      expect(await intruder.heard()).toEqual({ saw: expect.arrayContaining(['initdb']), read: [] });
    });

    it('a folder from a version that ran the server as nobody is served under a uid of its own', async () => {
      const dataDir = await preparedDataDir();
      const data = join(dataDir, 'postgres');
      execFileSync('chown', ['-R', `${nobody()}:${nobody()}`, data]);
      track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      const uid = uidOf(dataDir);
      expect([0, nobody()]).not.toContain(uid);
      const files = (readdirSync(data, { recursive: true }) as string[]).map((name) => join(data, name));
      const owners = files.map((file) => lstatSync(file, { throwIfNoEntry: false })?.uid); // some go meanwhile
      expect(new Set(owners.filter((owner) => owner !== undefined))).toEqual(new Set([uid]));
    });

    it('a folder that was moved is served under the uid that it has', async () => {
      const dataDir = await preparedDataDir();
      const { uid } = statSync(join(dataDir, 'postgres'));
      track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      expect(uidOf(dataDir)).toBe(uid);
    });

    it('binaries that only root can reach are copied to where everybody can', async () => {
      const home = temporaryFolder(0o700);
      const shared = join(temporaryFolder(), 'shared');
      const native = join(home, 'native');
      cpSync((await locateBinaries()).native, native, { recursive: true, verbatimSymlinks: true });
      // npm without install scripts leaves the library links out
      for (const { target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
        target: string;
      }[]) {
        rmSync(join(home, target));
      }
      const dataDir = join(home, 'data');
      const internals = { native, sharedPlaces: [shared] };
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, internals));
      await answers(database.url);
      expect(uidOf(dataDir)).not.toBe(0);
      const [postmaster] = family(join(dataDir, 'postgres'));
      expect(readFileSync(`/proc/${postmaster}/cmdline`, 'utf8').startsWith(shared)).toBe(true);
    });

    it('a folder of an ordinary user is served under that user, and stays theirs', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      mkdirSync(dataDir, { mode: 0o700 });
      chownSync(dataDir, nobody(), nobody());
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      await answers(database.url);
      expect(uids(dataDir)).toEqual(new Set([nobody()]));
      for (const file of ['postgres', 'postgres-password', 'postgres-port', 'postgres.log']) {
        expect([file, statSync(join(dataDir, file)).uid]).toEqual([file, nobody()]);
      }
    });
  });

if (!asRoot)
  describe('as an ordinary user', () => {
    it('the server runs under our own uid, also below a folder that only we can enter', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      await answers(database.url);
      expect(uids(dataDir)).toEqual(new Set([process.getuid?.()]));
      expect(statSync(join(dataDir, 'postgres')).uid).toBe(process.getuid?.());
    });

    it('a folder that we may not read is refused with one line about whose it is', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      const database = track(await openEmbedded({ dataDir, role: 'tool', log: quiet }));
      await database.release();
      chmodSync(join(dataDir, 'postgres-password'), 0o000); // what another user's file is to us
      await expect(openEmbedded({ dataDir, role: 'tool', log: quiet })).rejects.toThrow(
        /belongs to another user \(uid \d+/,
      );
    });

    it('library links that npm left out are made again', async () => {
      const home = temporaryFolder(0o700);
      const native = join(home, 'native');
      cpSync((await locateBinaries()).native, native, { recursive: true, verbatimSymlinks: true });
      for (const { target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
        target: string;
      }[]) {
        rmSync(join(home, target));
      }
      const database = track(await openEmbedded({ dataDir: join(home, 'data'), role: 'tool', log: quiet }, { native }));
      await answers(database.url);
    });
  });
