import { type ExecFileOptions, execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';

/** Nothing of our own environment reaches the server: no PGDATA, no secrets in /proc/PID/environ. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
};

const execute = promisify(execFile);

export async function run(
  program: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, 'cwd' | 'uid' | 'gid'> = {},
): Promise<{ stdout: string }> {
  return execute(program, args, { ...options, env: ENVIRONMENT, encoding: 'utf8' });
}

/**
 * The processes of a server, also those that outlived their postmaster, by the working directory that they all share.
 * Of other users' processes only root can tell.
 */
export async function serverProcesses(data: string): Promise<number[]> {
  if (process.platform !== 'linux') return serverProcessesByLsof(data);
  const isServer = (pid: string): boolean =>
    attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8')) === 'postgres\n' &&
    attempt(() => readlinkSync(`/proc/${pid}/cwd`)) === data;
  return processIds().filter(isServer).map(Number);
}

async function serverProcessesByLsof(data: string): Promise<number[]> {
  // It ends with 1 when there is nothing to list.
  const { stdout } = await run('lsof', ['-a', '-c', 'postgres', '-d', 'cwd', '-F', 'pn']).catch(() => ({ stdout: '' }));
  const servers: number[] = [];
  let pid = 0;
  for (const line of stdout.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    else if (line === `n${data}`) servers.push(pid);
  }
  return servers;
}

/**
 * Those of the given ids, as uids or gids, that a process has which works outside these folders. None where there is no
 * /proc to tell. Without waiting: a file of /proc is there at once, and some hundreds of turns would cost ten times that.
 */
export function idsInUseOutside(folders: readonly string[], isMeant: (id: number) => boolean): Set<number> {
  const ids = new Set<number>();
  for (const pid of processIds()) {
    const found = idsOf(pid).filter(isMeant);
    if (found.length === 0) continue;
    const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`));
    if (!folders.some((folder) => `${cwd}/`.startsWith(`${folder}/`))) for (const id of found) ids.add(id);
  }
  return ids;
}

function idsOf(pid: string): number[] {
  const status = attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8'));
  const lines = [...status.matchAll(/^(?:Uid|Gid|Groups):(.*)$/gm)];
  return lines.flatMap(([, numbers = '']) => numbers.trim().split(/\s+/).map(Number));
}

function processIds(): string[] {
  return attempt(() => readdirSync('/proc').join(' '))
    .split(' ')
    .filter((name) => /^\d+$/.test(name));
}

/** Empty when the process has ended meanwhile. */
function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
