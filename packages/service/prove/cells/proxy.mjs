import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, freePortsInRow, until } from '../ha/waiting.mjs';

const EXAMPLE = fileURLToPath(new URL('../../../../deploy/cells/haproxy.cfg', import.meta.url));
const ADDRESS = /(?<=127\.0\.0\.1:)(\d+)(?:-(\d+))?/g;
/** The listeners of the servers are for Patroni, which this proof does not use. */
const PATRONI = /^defaults clusters .*/ms;
/** The new server's port, which only the removed listeners have. */
const NEW_SERVER = 5502;
const START_SECONDS = 20;

/**
 * Reads deploy/cells/haproxy.cfg and gives each of its ports a free one. `port` returns the free port for one of the
 * file.
 */
export async function readExample(folder) {
  const text = (await readFile(EXAMPLE, 'utf8')).replace(PATRONI, '');
  const ports = new Map();
  const give = (named, free) => {
    for (const [index, one] of named.entries()) ports.set(one, free[index]);
  };
  const places = [...text.matchAll(ADDRESS)].map(([, first, last = first]) =>
    Array.from({ length: last - first + 1 }, (_, index) => Number(first) + index),
  );
  for (const row of places.filter(({ length }) => length > 1)) give(row, await freePortsInRow(row.length));
  const others = [...new Set([...places.flat(), NEW_SERVER])].filter((one) => !ports.has(one));
  give(others, await freePorts(others.length));
  const port = (one) => {
    if (!ports.has(one)) throw new Error(`deploy/cells/haproxy.cfg has no port ${one}`);
    return ports.get(one);
  };
  const files = { socket: path.join(folder, 'admin.sock'), map: path.join(folder, 'app-ids.map') };
  const ours = text
    .replace(/^ *(?:log |option httplog).*\n/gm, '')
    // A shell's limit of open files is too low for more connections.
    .replace('maxconn 20000', 'maxconn 2000')
    .replace(/stats socket .*/, `stats socket ${files.socket} mode 600 level admin`)
    .replaceAll('/etc/haproxy/cells/app-ids.map', files.map)
    .replace(/sub\((\d+)\)/, (_, first) => `sub(${port(Number(first))})`)
    .replace(ADDRESS, (_, first, last) =>
      [first, last]
        .filter(Boolean)
        .map((one) => port(Number(one)))
        .join('-'),
    );
  return { port, files, text: ours };
}

/** Starts haproxy with the files of `readExample`. */
export async function startProxy({ folder, example, children, interrupted }) {
  const config = path.join(folder, 'haproxy.cfg');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(config, example.text, { mode: 0o600 });
  await writeFile(example.files.map, '', { flag: 'a' });
  await chmod(example.files.map, 0o644);
  let running;
  async function start() {
    running = await children.start({
      name: 'haproxy',
      role: 'server',
      command: process.env['HAPROXY'] ?? 'haproxy',
      args: ['-db', '-f', config],
      cwd: folder,
    });
    await until(
      'haproxy listens',
      async () => {
        if (running.hasEnded()) throw new Error(await running.ended);
        const socket = net.connect(example.port(8443), '127.0.0.1');
        await once(socket, 'connect');
        return socket.destroy();
      },
      { seconds: START_SECONDS, interrupted },
    );
  }
  await start();
  return {
    /** Changes made over the socket are lost. */
    async restart() {
      running.child.kill('SIGTERM');
      await running.ended;
      await start();
    },
  };
}
