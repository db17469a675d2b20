import { type ExecFileOptions, execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Nothing of our own environment reaches the server: no PGDATA, no secrets in /proc/PID/environ. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
};

const execute = promisify(execFile);

/** Runs a program of the system to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, 'cwd' | 'uid' | 'gid'> = {},
): Promise<{ stdout: string }> {
  return execute(program, args, { ...options, env: ENVIRONMENT, encoding: 'utf8' });
}
