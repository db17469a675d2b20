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
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { locateBinaries } from '../src/binaries.js';
import { type EmbeddedDatabase, openEmbedded } from '../src/embedded.js';
import type { Internals } from '../src/identity.js';
import {
  answers,
  asRoot,
  cleanUp,
  dropPrepared,
  family,
  openTool,
  preparedDataDir,
  serverUids,
  temporaryFolder,
  track,
} from './support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

afterEach(cleanUp);
afterAll(dropPrepared);

const uids = (dataDir: string): Set<number> => serverUids(join(dataDir, 'postgres'));

function uidOf(dataDir: string): number {
  const [uid, ...others] = uids(dataDir);
  expect(others).toEqual([]);
  return uid ?? -1;
}

/** Starts a process as `nobody` that tries to interfere with the server, and reports the results as JSON lines. */
function spawnIntruder(task: 'try' | 'watch', about: object): { heard(): Promise<unknown>; end(): void } {
  const script = readFileSync(new URL('./intruder.mjs', import.meta.url), 'utf8');
  // Copies Node, because the installed one may be accessible only to its owner.
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

/** Copies the binaries without the library links, as npm leaves them if install scripts are disabled. */
async function nativeWithoutLinks(home: string): Promise<string> {
  const native = join(home, 'native');
  const installed = await locateBinaries(`${process.platform}-${process.arch}`);
  cpSync(installed.native, native, { recursive: true, verbatimSymlinks: true });
  const links: { target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { target } of links) rmSync(join(home, target));
  return native;
}

async function openService(dataDir: string, internals: Internals = {}): Promise<EmbeddedDatabase> {
  const database = track(await openEmbedded({ dataDir, role: 'service', log: () => undefined }, internals));
  await answers(database.url);
  return database;
}

const nobody = (): number => Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));

// A run is either as root or not. The tests for the other case are not defined.
if (asRoot)
  describe('as root', () => {
    it('the server has a uid without an account, also below a folder that only root can enter', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      await openService(dataDir);
      const uid = uidOf(dataDir);
      expect(() => execFileSync('id', [String(uid)], { stdio: 'ignore' })).toThrow();
      expect(statSync(dataDir).uid).toBe(0);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    });

    it('a process of nobody can neither signal the server, nor read its memory and files', async () => {
      const dataDir = await preparedDataDir();
      const database = await openService(dataDir);
      chmodSync(dataDir, 0o755); // as if an operator had made it
      const [postmaster, child] = family(join(dataDir, 'postgres'));
      const names = ['postgres', 'postgres/PG_VERSION', 'postgres/base', 'postgres-password', 'postgres.log'];
      const intruder = spawnIntruder('try', {
        pids: [postmaster, child],
        files: names.map((name) => join(dataDir, name)),
      });
      expect(await intruder.heard()).toEqual({ uid: nobody(), signalled: [], read: [] });
      await answers(database.url);
    });

    it('nor can it while initdb, which needs an account, creates the database', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      mkdirSync(dataDir, { mode: 0o755 });
      const intruder = spawnIntruder('watch', { parent: process.pid, dataDir });
      expect(await intruder.heard()).toBe('ready');
      await openService(dataDir);
      intruder.end();
      // Other names than initdb can occur: a child process has its parent's name until exec.
      expect(await intruder.heard()).toEqual({ saw: expect.arrayContaining(['initdb']), read: [] });
    });

    it('a folder from a version that ran the server as nobody is served under a dedicated uid', async () => {
      const dataDir = await preparedDataDir();
      const data = join(dataDir, 'postgres');
      execFileSync('chown', ['-R', `${nobody()}:${nobody()}`, data]);
      await openService(dataDir);
      const uid = uidOf(dataDir);
      expect([0, nobody()]).not.toContain(uid);
      const files = (readdirSync(data, { recursive: true }) as string[]).map((name) => join(data, name));
      const owners = files.map((file) => lstatSync(file, { throwIfNoEntry: false })?.uid); // some disappear meanwhile
      expect(new Set(owners.filter((owner) => owner !== undefined))).toEqual(new Set([uid]));
    });

    it('a moved folder is served under its existing uid', async () => {
      const dataDir = await preparedDataDir();
      const { uid } = statSync(join(dataDir, 'postgres'));
      await openService(dataDir);
      expect(uidOf(dataDir)).toBe(uid);
    });

    it('binaries that only root can reach are copied to where everybody can', async () => {
      const home = temporaryFolder(0o700);
      const sharedPlace = join(temporaryFolder(), 'shared');
      const dataDir = join(home, 'data');
      await openService(dataDir, { native: await nativeWithoutLinks(home), sharedPlace });
      expect(uidOf(dataDir)).not.toBe(0);
      const [postmaster] = family(join(dataDir, 'postgres'));
      expect(readFileSync(`/proc/${postmaster}/cmdline`, 'utf8').startsWith(sharedPlace)).toBe(true);
    });

    it('a folder of an ordinary user is served under that user, and stays theirs', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      mkdirSync(dataDir, { mode: 0o700 });
      chownSync(dataDir, nobody(), nobody());
      await openService(dataDir);
      expect(uids(dataDir)).toEqual(new Set([nobody()]));
      for (const file of ['postgres', 'postgres-password', 'postgres.log']) {
        expect([file, statSync(join(dataDir, file)).uid]).toEqual([file, nobody()]);
      }
    });
  });

if (!asRoot)
  describe('as an ordinary user', () => {
    it('the server runs under our own uid, also below a folder that only we can enter', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      await openService(dataDir);
      expect(uids(dataDir)).toEqual(new Set([process.getuid?.()]));
      expect(statSync(join(dataDir, 'postgres')).uid).toBe(process.getuid?.());
    });

    it('an unreadable folder is refused with one line that names its owner', async () => {
      const dataDir = join(temporaryFolder(), 'data');
      await (await openTool(dataDir)).release();
      chmodSync(join(dataDir, 'postgres-password'), 0o000); // like another user's file
      await expect(openTool(dataDir)).rejects.toThrow(/belongs to another user \(uid \d+/);
    });

    it('library links that npm omitted are created', async () => {
      const home = temporaryFolder(0o700);
      await openService(join(home, 'data'), { native: await nativeWithoutLinks(home) });
    });
  });
