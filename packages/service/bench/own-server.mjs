import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A shell script that stops the server when the bench ends, even by kill -9, because the script's standard input is
 * then closed.
 */
const UNTIL_INPUT_ENDS = '"$0" "$@" < /dev/null & server=$!; cat > /dev/null; kill -INT $server; wait $server';

/**
 * Settings that an operator would choose for a machine of this size. All other settings have PostgreSQL's defaults,
 * including fsync.
 */
const SETTINGS = {
  shared_buffers: '1GB',
  max_connections: '400',
  max_wal_size: '4GB',
  min_wal_size: '2GB',
  timezone: 'Asia/Shanghai',
  log_timezone: 'Asia/Shanghai',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

/**
 * Starts PostgreSQL from the installed programs in the folder `bin`, with a new cluster, or with the cluster of the
 * folder `kept`, which then stays. The server ends with this process.
 */
export async function openOwnServer(bin, kept) {
  const data = kept ?? (await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-postgres-')));
  if (kept !== undefined) await mkdir(kept, { recursive: true });
  const identity = await serverIdentity(data);
  const options = { ...identity, env: { PATH: process.env.PATH, LC_ALL: 'C' }, cwd: data };
  if (!existsSync(path.join(data, 'PG_VERSION')))
    await run(path.join(bin, 'initdb'), ['-D', data, '-U', 'perennial', '-E', 'UTF8', '--auth=trust', '-k'], options);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn('sh', ['-c', UNTIL_INPUT_ENDS, path.join(bin, 'postgres'), '-D', data, ...settings], {
    ...options,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  await new Promise((resolve, reject) => {
    let said = '';
    server.stderr.on('data', (chunk) => {
      said += chunk;
      if (said.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`${bin}/postgres did not start: ${said}`)));
  });
  return {
    url: `postgres://perennial@127.0.0.1:${port}/postgres`,
    data,
    async release() {
      server.stdin.end();
      await once(server, 'exit');
      if (kept === undefined) await rm(data, { recursive: true, force: true });
    },
  };
}

/** Returns the PostgreSQL package's user if this process runs as root, because PostgreSQL refuses to run as root. */
async function serverIdentity(data) {
  if (process.getuid?.() !== 0) return {};
  const users = await readFile('/etc/passwd', 'utf8');
  const [, , uid, gid] =
    users
      .split('\n')
      .find((line) => line.startsWith('postgres:'))
      ?.split(':') ?? [];
  if (uid === undefined) throw new Error('as root, --postgres needs the user "postgres"');
  await chown(data, Number(uid), Number(gid));
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
