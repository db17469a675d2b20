import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../test/support/free-port.js';
import { until } from '../test/support/processes.js';
import { proveCompose, type Run } from './image/compose.js';
import { addChannel, createOrder } from './support/first-order.js';
import { check, run, say, stopwatch } from './support/programs.js';
import { withTemporaryDatabase } from './support/temporary-database.js';

const PUBLIC_BASE = 'docker.io/library/node:22-bookworm-slim';
const OWN_BASE = 'localhost/perennial-base';
const IMAGE = 'localhost/perennial';
const NODE = 'perennial-proof';

/**
 * npm run prove -- image [--short] [FOLDER]: builds the image and runs it read-only as another user than root. Where no registry
 * can be reached, the base is Debian 12 from debootstrap with Node from npm; FOLDER is such a Debian, made before. Without
 * --short compose.yaml is started too.
 */
export default async function proveImage(args: readonly string[], { root }: { root: string }): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('this proof runs containers: run it as root');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-image-'));
  const { podman, podmanCompose } = await openPodman(folder);
  const seconds = stopwatch();
  try {
    const base = await makeBase(
      podman,
      folder,
      args.find((arg) => !arg.startsWith('-')),
    );
    say(`base image ${base} after ${seconds()}`);
    const file = path.join(root, 'deploy/docker/Dockerfile');
    const options = ['--format', 'docker', '--network', 'host', '--build-arg', `BASE=${base}`];
    await podman('build', ...options, '-f', file, '-t', IMAGE, root);
    const sizes = await Promise.all([base, IMAGE].map((one) => podman('image', 'inspect', '-f', '{{.Size}}', one)));
    const [baseMb = 0, imageMb = 0] = sizes.map((size) => Math.round(Number(size) / 1e6));
    say(`image built after ${seconds()}: ${imageMb} MB, of which ${imageMb - baseMb} MB above the base`);
    await withTemporaryDatabase((databaseUrl) => runImage({ podman, folder, databaseUrl, seconds }));
    if (args[0] !== '--short')
      await proveCompose({ podman, podmanCompose, folder, root, base: base === PUBLIC_BASE ? undefined : base });
  } finally {
    await podman('rm', '--all', '--force').catch(() => undefined);
    await run('umount', [`${folder}/graph/overlay`]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prepares podman with a storage of its own, so that it touches no other image or container of this machine. */
async function openPodman(folder: string) {
  const containers = path.join(folder, 'containers.conf');
  const storage = path.join(folder, 'storage.conf');
  // Inherits the limits of this process, because podman's defaults are higher than some machines allow.
  await writeFile(
    containers,
    `[containers]\ndefault_ulimits = []\n[network]\nnetwork_config_dir = "${folder}/networks"\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n`,
  );
  await writeFile(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`);
  const env = { ...process.env, CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage, TMPDIR: folder };
  const program =
    (name: string): Run =>
    (...args) =>
      run(name, args, { env });
  return { podman: program('podman'), podmanCompose: program('podman-compose') };
}

/** Returns the name of the public base image if it can be pulled, else of one made here. */
async function makeBase(podman: Run, folder: string, given?: string): Promise<string> {
  if (given === undefined) {
    const isPulled = await podman('pull', '--quiet', PUBLIC_BASE).then(
      () => true,
      () => false,
    );
    if (isPulled) return PUBLIC_BASE;
    say('no registry can be reached: making a base with debootstrap');
  }
  const debian = path.join(folder, 'debian');
  if (given !== undefined) await run('cp', ['-a', given, debian]);
  else await run(process.env['DEBOOTSTRAP'] ?? 'debootstrap', ['--variant=minbase', 'bookworm', debian]);
  // npm's packages node-PLATFORM-ARCH contain the program of Node, and npm contains all that it needs.
  const target = `node-${process.platform}-${process.arch}`;
  await mkdir(path.join(folder, 'npm'));
  await run('npm', [
    'install',
    '--no-save',
    '--loglevel=error',
    '--prefix',
    path.join(folder, 'npm'),
    `${target}@22`,
    'npm@10',
  ]);
  const installed = path.join(folder, 'npm', 'node_modules');
  const local = path.join(debian, 'usr/local');
  await cp(path.join(installed, target, 'bin/node'), path.join(local, 'bin/node'));
  await cp(path.join(installed, 'npm'), path.join(local, 'lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', path.join(local, 'bin/npm'));
  // The authorities that this machine trusts, because a machine without a registry often has a proxy of its own.
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  if (existsSync(authorities)) {
    await cp(authorities, path.join(debian, authorities));
    await writeFile(path.join(local, 'etc/npmrc'), `cafile=${authorities}\n`);
  }
  const archive = path.join(folder, 'base.tar');
  await run('tar', ['-C', debian, '-cf', archive, '.']);
  await podman('import', archive, OWN_BASE);
  await Promise.all([debian, archive].map((place) => rm(place, { recursive: true, force: true })));
  return OWN_BASE;
}

interface Image {
  readonly podman: Run;
  readonly folder: string;
  readonly databaseUrl: string;
  readonly seconds: () => string;
}

async function runImage({ podman, folder, databaseUrl, seconds }: Image): Promise<void> {
  const [port, consolePort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const settings = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: 'https://pay.example',
    // On the network of this machine, because the database listens on 127.0.0.1 only.
    PORT: `127.0.0.1:${port}`,
    CONSOLE_PORT: `127.0.0.1:${consolePort}`,
    METRICS_PORT: `127.0.0.1:${metricsPort}`,
    // Longer than the order takes that is made while the node drains.
    DRAIN_SECONDS: '20',
  };
  const file = path.join(folder, 'perennial.env');
  await writeFile(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  );
  // As compose.yaml runs a node.
  const confined = ['--network=host', '--read-only', '--read-only-tmpfs=false', '--tmpfs=/tmp', '--cap-drop=ALL'];
  const options = [...confined, '--security-opt=no-new-privileges', `--env-file=${file}`];
  await podman('run', '--rm', ...options, IMAGE, 'perennial', 'migrate');
  await podman('run', '--detach', '--name', NODE, ...options, IMAGE);
  const exec: Run = (...args) => podman('exec', NODE, ...args);
  const baseUrl = `http://127.0.0.1:${port}`;
  const statusOf = async () => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status;
  await until('the container serves', async () => {
    const state = (await podman('inspect', '-f', '{{.State.Status}}', NODE)).trim();
    if (state === 'exited') throw new Error(`the container ended: ${await podman('logs', NODE)}`);
    return (await statusOf()) === 200;
  });
  const credentials = await addChannel((...command) => exec('perennial', ...command));
  await createOrder(baseUrl, credentials);
  say(`first order ${seconds()} after the begin`);
  const uids = await exec('sh', '-c', 'grep -h ^Uid: /proc/1/status');
  check('the service runs as uid 1000', /^Uid:\s+1000\s+1000\s+1000\s+1000$/m.test(uids));
  const mounts = await exec('cat', '/proc/mounts');
  check('the root file system is read-only', /^\S+ \/ \S+ ro,/m.test(mounts));
  await podman('healthcheck', 'run', NODE);
  check('the health check passes', true);
  await podman('kill', '--signal', 'TERM', NODE);
  await until('/readyz answers 503 after SIGTERM', async () => (await statusOf()) === 503);
  await createOrder(baseUrl, credentials);
  check('an order is served while the node drains', true);
  const code = (await podman('wait', NODE)).trim();
  check(`after SIGTERM the container ends with 0 (${code})`, code === '0');
}
