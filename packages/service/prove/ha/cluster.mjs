import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ENVIRONMENT } from './children.mjs';
import { fillDisk, mountDisk } from './disks.mjs';
import { isRoot, POSTGRES_BIN, PROGRAMS } from './programs.mjs';
import { postgresOf, signal } from './signals.mjs';
import { filledIn } from './templates.mjs';
import { freePorts, until } from './waiting.mjs';

const run = promisify(execFile);
const HOST = '127.0.0.1';
const NAMES = ['pg1', 'pg2', 'pg3'];
const START_SECONDS = 120;
/**
 * The longest time until the cluster is complete again. Includes rewinding a former primary and waiting until it has
 * caught up.
 */
const HEAL_SECONDS = 150;
const ASK_MS = 2_000;
const RUNNING = new Set(['running', 'streaming']);
const DATABASE = 'perennial';

/** Returns the servers' data directories. */
export const dataDirsIn = (folder) => NAMES.map((name) => path.join(folder, name, 'data'));

/**
 * Starts etcd, three PostgreSQL servers under Patroni, and haproxy, each on its own ports, with the files of
 * deploy/patroni.
 */
export async function startCluster({ folder, children, identity, interrupted }) {
  const [proxyPort, clientPort, peerPort, ...ports] = await freePorts(3 + 2 * NAMES.length);
  const servers = NAMES.map((name, index) => ({
    name,
    home: path.join(folder, name),
    dataDir: dataDirsIn(folder)[index],
    postgresPort: ports[2 * index],
    restPort: ports[2 * index + 1],
    patroni: undefined,
  }));
  const superuserPassword = randomBytes(18).toString('base64url');
  const shared = {
    HOST,
    SCOPE: 'perennial',
    NETWORK: `${HOST}/32`,
    ETCD_HOSTS: `${HOST}:${clientPort}`,
    POSTGRES_BIN_DIR: POSTGRES_BIN,
    SUPERUSER_PASSWORD: superuserPassword,
    REPLICATION_PASSWORD: randomBytes(18).toString('base64url'),
  };

  /** Writes a file that only the servers can read, because it contains passwords. */
  async function write(file, text) {
    await writeFile(file, text, { mode: 0o600 });
    if (identity.uid !== undefined) await chown(file, identity.uid, identity.gid);
    return file;
  }

  const etcdHome = path.join(folder, 'etcd');
  const etcdConfig = path.join(etcdHome, 'etcd.conf.yml');
  let etcd;
  async function configureEtcd() {
    await ownFolder(etcdHome, identity);
    const text = await filledIn('etcd.conf.yml', {
      ...shared,
      ETCD_NAME: 'etcd1',
      ETCD_DATA_DIR: path.join(etcdHome, 'data'),
      ETCD_CLIENT_PORT: clientPort,
      ETCD_PEER_PORT: peerPort,
      ETCD_CLUSTER: `etcd1=http://${HOST}:${peerPort}`,
    });
    await write(etcdConfig, text);
  }

  async function startEtcd() {
    etcd = await children.start({
      name: 'etcd',
      role: 'server',
      command: PROGRAMS.etcd,
      args: ['--config-file', etcdConfig],
      as: identity,
      cwd: etcdHome,
      // etcd 3.4 refuses to start without this variable on any architecture except amd64.
      env: { ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    const healthy = async () => (await ask(`http://${HOST}:${clientPort}/health`)).ok;
    await until('etcd answers', healthy, { seconds: START_SECONDS, interrupted });
  }

  async function startPatroni(server) {
    const config = path.join(server.home, 'patroni.yml');
    server.patroni = await children.start({
      name: `patroni-${server.name}`,
      role: 'patroni',
      command: PROGRAMS.patroni,
      args: [config],
      as: identity,
      cwd: server.home,
      env: { HOME: server.home },
    });
  }

  async function configure(server) {
    await ownFolder(server.home, identity);
    if (isRoot()) children.keepDisk(await mountDisk(server.home, identity));
    const text = await filledIn('patroni.yml', {
      ...shared,
      NAME: server.name,
      REST_PORT: server.restPort,
      POSTGRES_PORT: server.postgresPort,
      POSTGRES_DATA_DIR: server.dataDir,
      PGPASS_FILE: path.join(server.home, 'pgpass'),
      SOCKET_DIR: server.home,
    });
    await write(path.join(server.home, 'patroni.yml'), text);
  }

  let proxy;
  async function startProxy({ shutsSessions }) {
    const home = path.join(folder, 'haproxy');
    await ownFolder(home, identity);
    const addresses = servers.flatMap(({ name, postgresPort, restPort }) => [
      [`${name.toUpperCase()}_ADDRESS`, `${HOST}:${postgresPort}`],
      [`${name.toUpperCase()}_REST_PORT`, restPort],
    ]);
    const values = { HAPROXY_BIND: `${HOST}:${proxyPort}`, ...Object.fromEntries(addresses) };
    const text = await filledIn('haproxy.cfg', values);
    const used = shutsSessions ? text : text.replace(/ on-marked-down shutdown-sessions$/m, '');
    if (shutsSessions === (used !== text)) throw new Error('haproxy.cfg says nothing about shutdown-sessions');
    const config = await write(path.join(home, 'haproxy.cfg'), used);
    proxy = await children.start({
      name: 'haproxy',
      role: 'server',
      command: PROGRAMS.haproxy,
      args: ['-db', '-f', config],
      as: identity,
      cwd: home,
    });
  }

  /** Returns Patroni's view from the first server that answers. */
  async function members() {
    for (const { restPort } of servers) {
      const answer = await ask(`http://${HOST}:${restPort}/cluster`).catch(() => undefined);
      if (answer?.ok) return (await answer.json()).members;
    }
    throw new Error('no Patroni answers');
  }

  const named = (name) => servers.find((server) => server.name === name);
  async function serversBy(role) {
    const found = (await members()).filter((member) => member.role === role);
    return found.map(({ name }) => named(name));
  }

  const superuserUrl = `postgres://postgres:${superuserPassword}@${HOST}:${proxyPort}/postgres`;

  /**
   * Returns whether haproxy leads to the primary. Before its first health checks haproxy takes every server for the
   * primary, so several connections are checked.
   */
  async function leadsToPrimary() {
    for (let turn = 0; turn < 2 * NAMES.length; turn += 1) {
      const client = new pg.Client({ connectionString: superuserUrl, connectionTimeoutMillis: ASK_MS });
      client.on('error', () => undefined);
      await client.connect();
      try {
        const { rows } = await client.query('select pg_is_in_recovery() as "isStandby"');
        if (rows[0].isStandby) return false;
      } finally {
        await client.end();
      }
    }
    return true;
  }

  const cluster = {
    servers,
    /** Creates a role and a database for the service. Returns the database's URL. */
    async createDatabase() {
      const password = randomBytes(18).toString('base64url');
      const client = new pg.Client({ connectionString: superuserUrl });
      await client.connect();
      try {
        await client.query(`create role ${DATABASE} login password '${password}'`);
        await client.query(`create database ${DATABASE} owner ${DATABASE}`);
      } finally {
        await client.end();
      }
      return `postgres://${DATABASE}:${password}@${HOST}:${proxyPort}/${DATABASE}`;
    },

    /** Returns the primary, the synchronous standby and the other standby. */
    async roles() {
      const [[primary], [sync], [other]] = await Promise.all(['leader', 'sync_standby', 'replica'].map(serversBy));
      if (!primary || !sync || !other) throw new Error('a server is missing');
      return { primary, sync, other };
    },

    /** Returns Patroni and all processes of its PostgreSQL. */
    processesOf: (server) => [server.patroni.identity, ...postgresOf(server.dataDir)],
    postgresOf: (server) => postgresOf(server.dataDir),

    kill(server) {
      signal(cluster.processesOf(server), 'SIGKILL');
    },

    /** Stops processes with SIGSTOP. Returns a function that continues exactly these processes. */
    freeze(processes) {
      signal(processes, 'SIGSTOP');
      return () => signal(processes, 'SIGCONT');
    },

    killEtcd() {
      signal([etcd.identity], 'SIGKILL');
    },

    /** Fills a server's disk. Returns a function that frees it. */
    fillDisk: ({ home }) => fillDisk(home),

    /** Restarts PostgreSQL without Patroni, as a hasty operator would. */
    async restartImmediately({ dataDir, home }) {
      const args = ['restart', '-D', dataDir, '-m', 'immediate', '-w', '-s', '-l', path.join(home, 'restart.log')];
      const options = { ...identity, cwd: home, env: ENVIRONMENT };
      await run(`${POSTGRES_BIN}/pg_ctl`, args, options).catch((error) => {
        // Throws only if PostgreSQL does not run. If it runs, Patroni has restarted it before pg_ctl could, and
        // pg_ctl's error does not matter.
        if (postgresOf(dataDir).length === 0) throw error;
      });
    },

    async useProxy(options) {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
      await startProxy(options);
      await until('haproxy leads to the primary alone', leadsToPrimary, { seconds: HEAL_SECONDS, interrupted });
    },

    /** Waits for another primary. */
    newPrimary: (former) =>
      until(
        'another primary',
        async () => (await serversBy('leader')).some((server) => server !== undefined && server !== former),
        { seconds: HEAL_SECONDS, interrupted },
      ),

    /**
     * Starts etcd and Patroni where they have ended. Waits for a primary with two standbys, one of which is
     * synchronous.
     */
    async heal(seconds = HEAL_SECONDS) {
      if (etcd.hasEnded()) await startEtcd();
      for (const server of servers) if (server.patroni.hasEnded()) await startPatroni(server);
      await until(
        'a primary and two standbys',
        async () => {
          const all = await members();
          const isWhole = all.length === NAMES.length && all.every(({ state }) => RUNNING.has(state));
          const hasOneTimeline = new Set(all.map(({ timeline }) => timeline)).size === 1;
          return isWhole && hasOneTimeline && cluster.roles();
        },
        { seconds, interrupted },
      );
    },
  };

  await configureEtcd();
  await startEtcd();
  for (const server of servers) {
    await configure(server);
    await startPatroni(server);
  }
  await startProxy({ shutsSessions: true });
  await cluster.heal(START_SECONDS);
  return cluster;
}

async function ownFolder(folder, { uid, gid }) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined) await chown(folder, uid, gid);
}

const ask = (url) => fetch(url, { signal: AbortSignal.timeout(ASK_MS) });
