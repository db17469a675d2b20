import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot, type Running, until, watch } from './processes.js';

export const HAPROXY_EXAMPLE = path.join(packageRoot, '..', '..', 'deploy', 'haproxy', 'haproxy.cfg');

/** haproxy's counters of one server. */
export interface ServerFigures {
  readonly isUp: boolean;
  readonly requests: number;
  /** The number of failed connections. The next two fields count incomplete responses and retried requests. */
  readonly connectionErrors: number;
  readonly responseErrors: number;
  readonly retries: number;
}

export interface Haproxy {
  readonly running: Running;
  /** Returns the counters of the servers, in the order of their ports. */
  figures(): Promise<ServerFigures[]>;
  stop(): Promise<void>;
}

export interface HaproxyOptions {
  readonly program: string;
  readonly folder: string;
  readonly frontPort: number;
  readonly statisticsPort: number;
  readonly nodePorts: readonly number[];
  /** The interval of health checks in milliseconds. Replaces the interval in the example file. */
  readonly checkMs?: number;
}

/** Starts haproxy with the example's file, but with other ports, an optional check interval, and statistics. */
export async function startHaproxy(options: HaproxyOptions): Promise<Haproxy> {
  const { program, folder, frontPort, statisticsPort, nodePorts, checkMs = 1000 } = options;
  const file = path.join(folder, 'haproxy.cfg');
  const example = await readFile(HAPROXY_EXAMPLE, 'utf8');
  const ours = example
    .replace('log /dev/log local0', 'log stderr format raw local0 err')
    // Allows fewer connections, because a shell's limit of open files is too low for 20,000 connections.
    .replace('maxconn 20000', 'maxconn 2000')
    .replace('bind 127.0.0.1:8443', `bind 127.0.0.1:${frontPort}`)
    .replace('inter 1s fastinter 200ms', `inter ${checkMs}ms`)
    .replace(/127\.0\.0\.1:808(\d)/g, (_, n: string) => `127.0.0.1:${nodePorts[Number(n) - 1]}`);
  const statistics = `\nfrontend statistics\n  bind 127.0.0.1:${statisticsPort}\n  stats enable\n  stats uri /\n`;
  await writeFile(file, ours + statistics);
  const running = watch(spawn(program, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] }));

  async function figures(): Promise<ServerFigures[]> {
    const csv = await (await fetch(`http://127.0.0.1:${statisticsPort}/;csv`)).text();
    const [names = [], ...rows] = csv
      .trim()
      .split('\n')
      .map((line) => line.replace(/^# /, '').split(','));
    const records = rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column] ?? ''])));
    return records
      .filter(({ pxname, svname }) => pxname === 'nodes' && svname?.startsWith('node'))
      .map((row) => ({
        isUp: row['status']?.startsWith('UP') === true,
        requests: Number(row['stot']),
        connectionErrors: Number(row['econ']),
        responseErrors: Number(row['eresp']),
        retries: Number(row['wretr']) + Number(row['wredis']),
      }));
  }

  await until('haproxy serves', async () => {
    if (running.child.exitCode !== null) throw new Error(`haproxy ended: ${running.stderr()}`);
    return (await figures().catch(() => [])).length > 0;
  });
  return {
    running,
    figures,
    async stop() {
      running.child.kill('SIGTERM');
      await running.exited;
    },
  };
}
