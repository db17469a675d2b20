import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandError, type Io } from '../frame/io.js';

/** Locks a file for this process and returns a function that unlocks it. Throws if another process holds the lock. */
export function lockFile({ pid }: Io, file: string): () => void {
  const lock = `${file}.lock`;
  const own = `${lock}.${pid}`;
  try {
    if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
    writeFileSync(own, String(pid), { mode: 0o600 });
    const owner = readOwner(lock);
    // Removes the lock if the process that holds it was killed.
    if (owner !== undefined && (owner === pid || !isRunning(owner))) rmSync(lock, { force: true });
    // linkSync is atomic, so the lock file is never there without its content.
    linkSync(own, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
    }
    throw new CommandError(
      `process ${readOwner(lock)} is already listening with ${file}: stop it, or name another file with --state. If that process is not a listener, delete ${lock}`,
    );
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(lock, { force: true });
}

function readOwner(lock: string): number | undefined {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
