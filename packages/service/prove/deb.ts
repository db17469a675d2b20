import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../src/platform/db/database.js';
import { channelClient } from '../test/support/channel-client.js';
import { freePort } from '../test/support/free-port.js';
import { type Running, until } from '../test/support/processes.js';
import { addChannel, createOrder, findOrder } from './support/first-order.js';
import { check, run, say, stopwatch } from './support/programs.js';
import { withTemporaryDatabase } from './support/temporary-database.js';
import { startUnit } from './support/unit.js';

const SETTINGS = '/etc/perennial';
const DATA = '/var/lib/perennial';
const UNIT = '/usr/lib/systemd/system/perennial@.service';
const apt = (...args: string[]) =>
  run('apt-get', ['-q', '-y', '-o', 'Dpkg::Options::=--force-confold', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
/** Disables what Debian's build of Node refuses to do. */
const AS_DEBIAN = "for (const name of ['setuid', 'setgid', 'initgroups']) process[name] = undefined";
const perennial = (...args: string[]) =>
  run('/usr/bin/perennial', args, {
    env: { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(AS_DEBIAN)}` },
  });
const modeOf = (place: string) => (statSync(place).mode & 0o777).toString(8);

/**
 * npm run prove -- deb: installs the Debian package on this machine, starts two nodes by the command line of its unit,
 * upgrades the package under them, removes and purges it. Leaves the machine as it was.
 */
export default async function proveDeb(_: readonly string[], { root }: { root: string }): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('this proof installs a package: run it as root, on Debian');
  if (existsSync(SETTINGS) || existsSync(UNIT)) throw new Error('Perennial is installed here: use another machine');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-prove-deb-'));
  await chmod(folder, 0o755);
  const before = await describeMachine();
  try {
    const packages = await buildPackages(root, folder);
    await withTemporaryDatabase((databaseUrl) => prove({ ...packages, folder, databaseUrl }));
  } finally {
    // Also after a failure.
    await run('dpkg', ['--purge', 'perennial']).catch(() => undefined);
    await Promise.all([SETTINGS, DATA, folder].map((place) => rm(place, { recursive: true, force: true })));
    await run('userdel', ['perennial']).catch(() => undefined);
  }
  const after = await describeMachine();
  const changed = [
    ...before.filter((line) => !after.includes(line)),
    ...after.filter((line) => !before.includes(line)),
  ];
  check(`the machine is as it was: packages, users, files ${changed.join(', ')}`.trim(), changed.length === 0);
}

/** Describes what the package changes on a machine. */
async function describeMachine(): Promise<string[]> {
  const packages = await run('dpkg-query', ['-W', '-f', '${Package} ${Version} ${Status}\n']);
  const people = readFileSync('/etc/passwd', 'utf8') + readFileSync('/etc/group', 'utf8');
  const folders = ['/etc', '/usr/bin', '/usr/lib', '/usr/lib/systemd/system', '/usr/share/doc', '/var/lib'];
  const files = await run('ls', ['-d', ...folders, ...folders.map((one) => `${one}/*`)], { shell: true });
  return `${packages}${people}${files}`.split('\n');
}

/** Builds the package twice, and once more under a higher version. */
async function buildPackages(root: string, folder: string) {
  const release = (script: string, ...args: string[]) =>
    run(process.execPath, [path.join(root, 'scripts/release', script), ...args]);
  const build = async (name: string, ...more: string[]) => {
    const out = path.join(folder, name);
    await release('pack.mjs', '--out', out);
    return (await release('deb.mjs', '--out', out, ...more)).trim();
  };
  const first = await build('first');
  const again = await build('again');
  check('two builds are the same bytes', readFileSync(first).equals(readFileSync(again)));
  const fields = await run('dpkg-deb', ['--show', '--showformat=${Version} ${Installed-Size}', first]);
  const [version = '', installedKb = ''] = fields.split(' ');
  const higher = await build('higher', '--version', `${version}+1`);
  say(
    `${path.basename(first)}: ${(statSync(first).size / 1e6).toFixed(1)} MB, installed ${(Number(installedKb) / 1e3).toFixed(0)} MB`,
  );
  return { first, higher, version };
}

interface Proof {
  readonly first: string;
  readonly higher: string;
  readonly version: string;
  readonly folder: string;
  readonly databaseUrl: string;
}

async function prove({ first, higher, version, folder, databaseUrl }: Proof): Promise<void> {
  const ports = [await freePort(), await freePort()];
  const nodes = new Map<number, Running>();
  const start = async (port: number) => {
    const running = startUnit(UNIT, String(port), path.join(folder, 'credentials'));
    nodes.set(port, running);
    await until(`perennial@${port} is ready`, async () => {
      if (running.child.exitCode !== null)
        throw new Error(`perennial@${port} ended: ${running.stdout()}${running.stderr()}`);
      return (await fetch(`${at(port)}/readyz`).catch(() => undefined))?.ok;
    });
  };
  const stop = async (port: number) => {
    nodes.get(port)?.child.kill('SIGTERM');
    check(`perennial@${port} drains and ends with 0`, (await nodes.get(port)?.exited) === 0);
  };
  try {
    const seconds = stopwatch();
    await apt('install', first);
    checkFiles();
    const settings = await configure(databaseUrl);
    check('a user who is not root is told to use sudo', /sudo perennial/.test(await refusal()));
    await perennial('migrate');
    await grant(settings.ownerUrl);
    for (const port of ports) await start(port);
    const link = /https?:\S+\/console\//.exec(await perennial('operator', 'create', 'grace', '--role', 'admin'))?.[0];
    check('a link to the console leads to the first node', link === 'http://127.0.0.1:9081/console/');
    const credentials = await addChannel(perennial);
    const [one = 0, two = 0] = ports;
    const orderNo = await createOrder(at(one), credentials);
    say(`first order ${seconds()} after the begin of the installation`);
    await findOrder(channelClient(at(two), credentials), orderNo);
    check('a second node of the template serves the same order', true);

    await apt('install', higher);
    check(
      'the upgrade keeps the changed settings and their modes',
      readFileSync(settings.file, 'utf8') === settings.text,
    );
    check('the settings have mode 600', modeOf(settings.file) === '600');
    for (const port of ports) await createOrder(at(port), credentials);
    check('nodes of the old version serve while the new one is installed', true);
    await perennial('migrate');
    for (const port of ports) {
      await stop(port);
      await start(port);
      await createOrder(at(port), credentials);
    }
    check(`nodes of ${version}+1 serve after a restart one by one`, true);
    for (const port of ports) await stop(port);

    await apt('remove', 'perennial');
    check('after remove the program and the unit are gone', !existsSync('/usr/bin/perennial') && !existsSync(UNIT));
    const kept = ['perennial.env', 'owner.env', 'master-key'].map((name) => path.join(SETTINGS, name));
    check('after remove settings and master key are kept', [...kept, DATA].every(existsSync));
    await apt('install', higher);
    await start(one);
    await findOrder(channelClient(at(one), credentials), orderNo);
    check('after another installation the first order is served', true);
    await stop(one);

    await apt('purge', 'perennial');
    check('purge without an answer keeps the master key', kept.slice(1).every(existsSync) && existsSync(DATA));
    await apt('install', higher);
    await run('sh', ['-c', 'echo perennial perennial/purge-data boolean true | debconf-set-selections']);
    await apt('purge', 'perennial');
    check('purge with the answer yes deletes it', !existsSync(SETTINGS) && !existsSync(DATA));
  } finally {
    for (const { child } of nodes.values()) child.kill('SIGKILL');
    await Promise.all([...nodes.values()].map(({ exited }) => exited));
  }
}

const at = (port: number) => `http://127.0.0.1:${port}`;

function checkFiles(): void {
  check(
    '/etc/perennial has mode 700, perennial.env 600',
    modeOf(SETTINGS) === '700' && modeOf(`${SETTINGS}/perennial.env`) === '600',
  );
  check('/var/lib/perennial has mode 700', modeOf(DATA) === '700');
  const { uid } = statSync(DATA);
  check('it belongs to a system user that is not root', uid > 0 && uid < 1000);
}

/** Follows docs/deployment.md: creates the roles, the settings and the master key. */
async function configure(databaseUrl: string) {
  const urlOf = (role: string, password: string) =>
    Object.assign(new URL(databaseUrl), { username: role, password }).href;
  const admin = openDatabase({ url: databaseUrl, pool: 1, name: 'prove deb' });
  for (const role of ['proof_owner', 'proof_service', 'proof_reports'])
    await admin.query(`create role ${role} login password 'proof'`);
  await admin.query('grant all on schema public to proof_owner');
  await admin.query('alter database proof owner to proof_owner');
  await admin.close();
  const file = `${SETTINGS}/perennial.env`;
  const text = readFileSync(file, 'utf8')
    .replace(/^DATABASE_URL=$/m, `DATABASE_URL=${urlOf('proof_service', 'proof')}`)
    .replace(/^PUBLIC_URL=$/m, 'PUBLIC_URL=https://pay.example');
  writeFileSync(file, text);
  const ownerUrl = urlOf('proof_owner', 'proof');
  writeFileSync(`${SETTINGS}/owner.env`, `DATABASE_URL=${ownerUrl}\n`, { mode: 0o600 });
  writeFileSync(`${SETTINGS}/master-key`, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  return { file, text, ownerUrl };
}

/** Gives the roles their rights with the package's roles.sql. */
async function grant(ownerUrl: string): Promise<void> {
  const names = { ON_ERROR_STOP: '1', schema: 'public', service: 'proof_service', reports: 'proof_reports' };
  const variables = Object.entries(names).flatMap(([name, value]) => ['-v', `${name}=${value}`]);
  const psql = process.env['PSQL'] ?? 'psql';
  await run(psql, [ownerUrl, ...variables, '-f', '/usr/lib/perennial/deploy/roles.sql']);
}

/** Returns what a command says to a user who is not root. */
const refusal = (): Promise<string> =>
  run('/usr/bin/perennial', ['channel', 'list'], { cwd: '/', uid: 65_534, gid: 65_534 }).then(
    () => '',
    (error: Error) => error.message,
  );
