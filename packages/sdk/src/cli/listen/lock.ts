import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandError, type Io } from '../frame/io.js';

/** Locks a file for one process and returns what unlocks it. Throws while another process that runs has the lock. */
export function lockFile({ pid }: Io, file: string): () => void {
  const lock = `${file}.lock`;
  const owner = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : undefined;
  if (owner !== undefined && owner !== pid && isRunning(owner)) {
    throw new CommandError(
      `process ${owner} is listening with ${file}: end it, or name another file with --state. If it is no listen any more, delete ${lock}`,
    );
  }
  try {
    // The one folder: all that are missing would be tried for ever where none can be made, as below /proc.
    if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
    // Of a process that has ended without unlocking it.
    if (owner !== undefined) rmSync(lock, { force: true });
    writeFileSync(lock, String(pid), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  }
  return () => rmSync(lock, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
