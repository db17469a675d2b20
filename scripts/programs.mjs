// Programs that proofs need and that npm does not install. `npm test` uses only the browser, if it is installed.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Folders with server programs, which only root has on its PATH. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
/** Debian's folder of PostgreSQL programs, with a subfolder per version. */
const POSTGRESQL = '/usr/lib/postgresql';
const succeeds = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** The programs by name: their Debian packages, and other names or places at which they are found. */
const PROGRAMS = {
  // Prefers a headless shell, because it takes half the CPU time.
  chromium: {
    packages: ['chromium-headless-shell'],
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    places: () => ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  },
  // Needed because without a Chinese font all Chinese characters are boxes of the same width.
  'chinese-font': {
    packages: ['fontconfig', 'fonts-noto-cjk'],
    names: ['fc-list'],
    isFit: (place) => spawnSync(place, [':lang=zh'], { encoding: 'utf8' }).stdout?.trim() !== '',
  },
  curl: {},
  debootstrap: {},
  'dpkg-deb': { packages: ['dpkg'] },
  go: { packages: ['golang-go'] },
  haproxy: {},
  initdb: {
    packages: ['postgresql'],
    places: () =>
      (existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL) : []).map((one) => `${POSTGRESQL}/${one}/bin/initdb`),
  },
  java: { packages: ['default-jdk-headless'] },
  javac: { packages: ['default-jdk-headless'] },
  nginx: {},
  openssl: {},
  pgbouncer: {},
  // With networks in which containers find each other by name.
  // Containers of compose.yaml find each other by name, which needs a plugin.
  podman: {
    packages: ['podman', 'golang-github-containernetworking-plugin-dnsname'],
    isFit: () => ['/usr/lib/cni/dnsname', '/usr/lib/podman/aardvark-dns'].some((place) => existsSync(place)),
  },
  'podman-compose': {},
  psql: { packages: ['postgresql-client'] },
  php: { packages: ['php-cli'] },
  // A Python that has the package cryptography: the first Python on the PATH may not be Debian's.
  python3: { packages: ['python3-cryptography'], isFit: (place) => succeeds(place, ['-c', 'import cryptography']) },
  // Runs containers also where cgroups of both versions are mounted, unlike crun.
  runc: {},
};

const variableOf = (name) => name.toUpperCase().replace('-', '_');

/**
 * Returns the path of a program: from its environment variable, otherwise the first path at which the program is found.
 */
export function findProgram(name) {
  const { names = [name], places = () => [], isFit = () => true } = PROGRAMS[name];
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...MORE_FOLDERS];
  const candidates = [
    process.env[variableOf(name)],
    ...places(),
    ...names.flatMap((one) => folders.map((folder) => path.join(folder, one))),
  ];
  return candidates.find((place) => place !== undefined && isProgram(place) && isFit(place));
}

function isProgram(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the paths by environment variable. Installs missing programs if it runs as root, else says what to install.
 */
export function requirePrograms(names) {
  const missing = () => names.filter((name) => findProgram(name) === undefined);
  const packagesOf = (some) => [...new Set(some.flatMap((name) => PROGRAMS[name].packages ?? [name]))];
  if (missing().length > 0 && process.getuid?.() === 0) install(packagesOf(missing()));
  const still = missing();
  if (still.length > 0) {
    const variables = still.map(variableOf).join(', ');
    process.stderr.write(
      `perennial: this needs ${still.join(', ')}. Install (Debian's names) ${packagesOf(still).join(' ')}, or set ${variables} to a path\n`,
    );
    process.exit(1);
  }
  return Object.fromEntries(names.map((name) => [variableOf(name), findProgram(name)]));
}

function install(packages) {
  process.stderr.write(`  installing ${packages.join(' ')} (apt-get)\n`);
  // The runlevel prevents packages from starting their servers, because tests start their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', '--no-install-recommends', ...packages],
  ])
    spawnSync('apt-get', args, { stdio: ['ignore', 2, 2], env });
}
