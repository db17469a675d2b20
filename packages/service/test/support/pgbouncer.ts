import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { until, watch } from './processes.js';

/** The path of pgbouncer. `npm run prove` sets PGBOUNCER to the path that it finds. */
const PROGRAM = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';

export interface Pooler {
  /** The database's URL through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a pgbouncer in front of the server with the given settings. */
export async function pgbouncer(databaseUrl: string, settings: Record<string, string>): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-pgbouncer-'));
  const file = path.join(folder, 'pgbouncer.ini');
  const all = { listen_addr: '127.0.0.1', listen_port: port, auth_type: 'any', unix_socket_dir: '', ...settings };
  await writeFile(
    file,
    `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}
[pgbouncer]
${Object.entries(all)
  .map(([name, value]) => `${name} = ${value}`)
  .join('\n')}
`,
  );
  // As root, runs it as nobody, because pgbouncer refuses to run as root.
  await chmod(folder, 0o755);
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const running = watch(spawn(PROGRAM, [file], { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...identity }));
  await until(`pgbouncer (${running.stderr()})`, async () => {
    if (running.child.exitCode !== null) throw new Error(`pgbouncer ended: ${running.stderr()}`);
    const socket = net.connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async close() {
      running.child.kill('SIGKILL');
      await running.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
