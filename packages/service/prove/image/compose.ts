import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { until } from '../../test/support/processes.js';
import { addChannel, createOrder } from '../support/first-order.js';
import { check, say } from '../support/programs.js';

const PROJECT = 'perennial';
const nameOf = (service: string, no = 1) => `${PROJECT}_${service}_${no}`;
const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

export type Run = (...args: string[]) => Promise<string>;

export interface Compose {
  readonly podman: Run;
  readonly podmanCompose: Run;
  readonly folder: string;
  readonly root: string;
  /** The base image made here. Undefined: the images of compose.yaml can be pulled. */
  readonly base?: string | undefined;
}

/** Starts compose.yaml with podman-compose, and makes an order through its proxy. */
export async function proveCompose({ podman, podmanCompose, folder, root, base }: Compose): Promise<void> {
  const images = base === undefined ? [] : await makeStandIns(podman, folder, root, base);
  // A copy, because the files with passwords do not belong into the checkout, and port 8080 may be in use.
  const deploy = path.join(folder, 'deploy');
  const docker = path.join(deploy, 'docker');
  await mkdir(docker, { recursive: true });
  await cp(path.join(root, 'deploy/docker'), docker, { recursive: true });
  await cp(path.join(root, 'deploy/roles.sql'), path.join(deploy, 'roles.sql'));
  const port = await freePort();
  const file = path.join(docker, 'compose.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text
      .replace('127.0.0.1:8080:8080', `127.0.0.1:${port}:8080`)
      // podman-compose 1.0 gives a container no address of its own in the default network.
      .replace(/^ {4}networks:\n {6}default: \{ ipv4_address: .*\n/m, ''),
  );
  const example = await readFile(path.join(docker, 'perennial.env.example'), 'utf8');
  const key = randomBytes(32).toString('base64');
  await writeFile(path.join(docker, 'perennial.env'), example.replace(/^MASTER_KEY=$/m, `MASTER_KEY=${key}`));
  const passwords = ['POSTGRES_PASSWORD', 'POSTGRES_SERVICE_PASSWORD'].map(
    (name) => `${name}=${randomBytes(16).toString('hex')}\n`,
  );
  await writeFile(path.join(docker, '.env'), [...passwords, ...images].join(''));
  const compose: Run = (...args) => podmanCompose('-p', PROJECT, '-f', file, ...args);
  const up = (service: string) => compose('up', '--detach', '--no-build', service);
  try {
    // One after the other, because podman-compose 1.0 ignores the conditions of depends_on.
    await up('database');
    await until('the database is healthy', () => succeeds(podman('healthcheck', 'run', nameOf('database'))));
    for (const service of ['migrate', 'roles']) {
      await up(service);
      check(`${service} ends with 0`, (await podman('wait', nameOf(service))).trim() === '0');
    }
    await up('node');
    await until('both nodes are healthy', async () =>
      (await Promise.all([1, 2].map((no) => succeeds(podman('healthcheck', 'run', nameOf('node', no)))))).every(
        Boolean,
      ),
    );
    await up('proxy');
    const baseUrl = `http://127.0.0.1:${port}`;
    await until(
      'the proxy leads to a node',
      async () => (await fetch(`${baseUrl}/openapi/v1/auth/token`).catch(() => undefined))?.status === 405,
    );
    const credentials = await addChannel((...command) => podman('exec', nameOf('node'), 'perennial', ...command));
    await createOrder(baseUrl, credentials);
    check('an order is served through the proxy of compose.yaml', true);
    say('not run of compose.yaml: the conditions of depends_on, restarts, the addresses of its network');
  } finally {
    await compose('down', '--volumes').catch(() => undefined);
    // Also removes the network's interface, which would stay on this machine.
    await podman('network', 'rm', '--force', `${PROJECT}_default`).catch(() => undefined);
  }
}

/** Makes images with Debian's PostgreSQL and haproxy. Returns the lines of .env that name them. */
async function makeStandIns(podman: Run, folder: string, root: string, base: string): Promise<string[]> {
  const place = path.join(folder, 'stand-ins');
  await mkdir(place);
  await cp(path.join(root, 'packages/service/prove/image/stand-in.sh'), path.join(place, 'stand-in.sh'));
  const install = 'apt-get update && apt-get install -y --no-install-recommends';
  const dockerfile = [
    `FROM ${base} AS postgres`,
    `RUN ${install} postgresql-15`,
    'ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'COPY stand-in.sh /stand-in.sh',
    'VOLUME /var/lib/postgresql/data',
    'ENTRYPOINT ["sh", "/stand-in.sh"]',
    `FROM ${base} AS haproxy`,
    `RUN ${install} haproxy`,
    'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
  ];
  await writeFile(path.join(place, 'Dockerfile'), `${dockerfile.join('\n')}\n`);
  const options = ['--format', 'docker', '--network', 'host'];
  const targets = ['postgres', 'haproxy'];
  for (const target of targets)
    await podman('build', ...options, '--target', target, '-t', `localhost/stand-in-${target}`, place);
  say('stand-ins for the images of compose.yaml: PostgreSQL 15 and haproxy 2.6 of Debian 12');
  return targets.map((target) => `${target.toUpperCase()}_IMAGE=localhost/stand-in-${target}\n`);
}
