import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.js';

/**
 * Whether processes are left of a server that was killed. PostgreSQL checks the same before it starts: postmaster.pid names a
 * piece of shared memory, to which live processes are attached. But it ignores processes of another uid; this does not.
 */
export async function hasProcessesLeft(data: string): Promise<boolean> {
  if (process.platform !== 'linux') return hasProcessesIn(data);
  const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const [, id] = (file.split('\n')[6] ?? '').trim().split(/\s+/);
  const pieces = await readFile('/proc/sysvipc/shm', 'utf8').catch(() => '');
  return pieces.split('\n').some((line) => {
    const [, shmid, , , , , attached] = line.trim().split(/\s+/);
    return shmid === id && Number(attached) > 0;
  });
}

/** Without /proc: the processes of a server have its folder as their working directory. */
async function hasProcessesIn(data: string): Promise<boolean> {
  // It ends with 1 when there is nothing to list.
  const { stdout } = await runProgram('lsof', ['-a', '-c', 'postgres', '-d', 'cwd', '-F', 'n']).catch(() => ({
    stdout: '',
  }));
  return stdout.split('\n').includes(`n${data}`);
}
