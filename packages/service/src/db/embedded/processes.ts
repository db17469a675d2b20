import { type ExecFileOptions, execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
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
  const servers: number[] = [];
  for (const pid of await processIds()) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (name !== 'postgres\n') continue;
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => '')) === data) servers.push(Number(pid));
  }
  return servers;
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

/** The uids and gids of the processes that work outside these folders. None where there is no /proc to tell. */
export async function idsOutside(folders: readonly string[]): Promise<Set<number>> {
  const ids = new Set<number>();
  const look = async (pid: string): Promise<void> => {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (folders.some((folder) => `${cwd}/`.startsWith(`${folder}/`))) return;
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    for (const [, numbers = ''] of status.matchAll(/^(?:Uid|Gid|Groups):(.*)$/gm)) {
      for (const id of numbers.trim().split(/\s+/)) ids.add(Number(id));
    }
  };
  await Promise.all((await processIds()).map(look));
  return ids;
}

async function processIds(): Promise<string[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name));
}
