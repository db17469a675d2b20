import { execFile } from 'node:child_process';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';
export const PROGRAMS = { patroni: '/usr/bin/patroni', etcd: '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' };

/** The library that fakes the time of a process, in its variant for threaded programs. */
export const FAKETIME = `/usr/lib/${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-linux-gnu/faketime/libfaketimeMT.so.1`;

/** The required packages, each with a file that shows it is installed. */
const PACKAGES = {
  patroni: PROGRAMS.patroni,
  'etcd-server': PROGRAMS.etcd,
  'python3-etcd': '/usr/lib/python3/dist-packages/etcd/__init__.py',
  haproxy: PROGRAMS.haproxy,
  'postgresql-15': `${POSTGRES_BIN}/postgres`,
  libfaketime: FAKETIME,
};

export const isRoot = () => process.getuid?.() === 0;

/**
 * Installs missing packages if this process runs as root. Otherwise throws an error that names the packages to install.
 */
export async function requirePrograms(say) {
  if (process.platform !== 'linux') throw new Error('this needs Linux: processes are found in /proc');
  const missing = await missingPackages();
  if (missing.length === 0) return;
  if (!isRoot()) throw new Error(`these packages are missing: ${missing.join(' ')}`);
  say(`  installing ${missing.join(' ')}\n`);
  await withoutStartingServices(async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-q'], { env });
    await run('apt-get', ['install', '-qy', '--no-install-recommends', ...missing], { env, maxBuffer: 2 ** 26 });
  });
  const still = await missingPackages();
  if (still.length > 0) throw new Error(`these packages could not be installed: ${still.join(' ')}`);
}

async function missingPackages() {
  const names = Object.keys(PACKAGES);
  const present = await Promise.all(names.map((name) => exists(PACKAGES[name])));
  return names.filter((_, index) => !present[index]);
}

const exists = (file) =>
  access(file).then(
    () => true,
    () => false,
  );

/**
 * While this file exists, Debian does not start the services it installs. The stand starts its own servers on its own
 * ports.
 */
const POLICY = '/usr/sbin/policy-rc.d';

async function withoutStartingServices(work) {
  const isOurs = !(await exists(POLICY));
  if (isOurs) await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    if (isOurs) await rm(POLICY, { force: true });
  }
}

/**
 * Returns the user of Debian's PostgreSQL package if this process runs as root, because PostgreSQL refuses to run as
 * root.
 */
export async function serverIdentity() {
  if (!isRoot()) return {};
  const users = await readFile('/etc/passwd', 'utf8');
  const [, , uid, gid] =
    users
      .split('\n')
      .find((line) => line.startsWith('postgres:'))
      ?.split(':') ?? [];
  if (uid === undefined) throw new Error('there is no user "postgres"');
  return { uid: Number(uid), gid: Number(gid) };
}

const VERSION_ARGUMENT = { patroni: '--version', etcd: '--version', haproxy: '-v' };

/** Returns the versions that the programs report. */
export async function versions() {
  const found = {};
  for (const [name, file] of Object.entries(PROGRAMS)) {
    const { stdout, stderr } = await run(file, [VERSION_ARGUMENT[name]]);
    found[name] = /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'unknown';
  }
  const { stdout } = await run(`${POSTGRES_BIN}/postgres`, ['--version']);
  found.PostgreSQL = /\d+\.\d+/.exec(stdout)?.[0] ?? 'unknown';
  return found;
}
