import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { locateBinaries } from '../../src/db/embedded/binaries.js';
import { openEmbedded } from '../../src/db/embedded/embedded.js';
import { asRoot, cleanUp, family, query, serverUids, temporaryFolder, track } from './embedded-helpers.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const quiet = (): void => undefined;

afterEach(cleanUp);

async function answers(url: string): Promise<void> {
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
}

const uids = (dataDir: string): Set<number> => serverUids(join(dataDir, 'postgres'));

function namespacesWork(): boolean {
  try {
    execFileSync('unshare', ['--user', '--map-user=65534', '--map-group=65534', '--', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const nobody = (): number => Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));

// Which of the two applies is a fact of the run, not a skipped test: the other one is not even there.
if (asRoot)
  describe('as root', () => {
    it('the server runs under nobody, also below a folder that nobody cannot enter', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, { rootMethod: 'uid' }));
      await answers(database.url);
      expect(uids(dataDir)).toEqual(new Set([nobody()]));
      expect(statSync(dataDir).uid).toBe(0);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    });

    it('a folder made under one method is served under the other, and back', async () => {
      const dataDir = join(temporaryFolder(0o700), 'data');
      const first = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, { rootMethod: 'uid' }));
      await query(first.url, 'create table kept as select 1 as one');
      await first.release();
      if (namespacesWork()) {
        const second = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, { rootMethod: 'namespace' }));
        expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
        expect(statSync(join(dataDir, 'postgres')).uid).toBe(0);
        const [postmaster = 0] = family(join(dataDir, 'postgres'));
        expect(readFileSync(`/proc/${postmaster}/uid_map`, 'utf8').trim()).toMatch(/^65534\s+0\s+1$/);
        expect(readFileSync(`/proc/${postmaster}/status`, 'utf8')).toMatch(/^CapEff:\s+0+$/m);
        await second.release();
      } else {
        const refused = openEmbedded({ dataDir, role: 'service', log: quiet }, { rootMethod: 'namespace' });
        await expect(refused).rejects.toThrow(/no way to give up root works here .*namespace/);
      }
      const third = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, { rootMethod: 'uid' }));
      expect(await query(third.url, 'select one from kept')).toEqual([{ one: 1 }]);
      expect(uids(dataDir)).toEqual(new Set([nobody()]));
    });

    it('binaries that nobody cannot reach are copied to where everybody can', async () => {
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
      const internals = { rootMethod: 'uid', native, sharedPlaces: [shared] } as const;
      const database = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, internals));
      await answers(database.url);
      expect(uids(dataDir)).toEqual(new Set([nobody()]));
      const [postmaster] = family(join(dataDir, 'postgres'));
      expect(readFileSync(`/proc/${postmaster}/cmdline`, 'utf8').startsWith(shared)).toBe(true);
    });

    it('without /proc, as on macOS, the data goes to a place that nobody can enter, and is found there again', async () => {
      const shared = join(temporaryFolder(), 'shared');
      const dataDir = join(temporaryFolder(0o700), 'data');
      const internals = { rootMethod: 'uid', procCwd: false, sharedPlaces: [shared] } as const;
      const first = track(await openEmbedded({ dataDir, role: 'service', log: quiet }, internals));
      await query(first.url, 'create table kept as select 1 as one');
      const place = readFileSync(join(dataDir, 'postgres-location'), 'utf8').trim();
      expect(place.startsWith(shared)).toBe(true);
      expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
      expect(serverUids(place)).toEqual(new Set([nobody()]));
      await first.release();
      const second = track(await openEmbedded({ dataDir, role: 'service', log: quiet }));
      expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
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
