import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandError, type Io } from '../frame/io.js';

/** A file that one process has. Gives what lets it go; throws while another process has it. */
export function lockFile({ pid }: Io, file: string): () => void {
  const lock = `${file}.lock`;
  const own = `${lock}.${pid}`;
  try {
    // The one folder: all that are missing would be tried for ever where none can be made, as below /proc.
    if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
    writeFileSync(own, String(pid), { mode: 0o600 });
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  }
  try {
    // A link is there with its content or not at all, unlike a file that is made and then written.
    while (!tryLink(own, lock)) removeStale(lock, file, pid);
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(lock, { force: true });
}

function tryLink(own: string, lock: string): boolean {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new CommandError(`${lock} cannot be made: ${(error as Error).message}`);
  }
}

/** Of a process that has ended without letting it go. */
function removeStale(lock: string, file: string, pid: number): void {
  const owner = readOwner(lock);
  if (owner === undefined) return;
  if (owner !== pid && isRunning(owner)) {
    throw new CommandError(
      `process ${owner} is listening with ${file}: end it, or name another file with --state. If it is no listen any more, delete ${lock}`,
    );
  }
  // Out of the way first: who comes at the same moment may have a new one there already.
  const aside = `${lock}.stale.${pid}`;
  try {
    renameSync(lock, aside);
    if (readOwner(aside) !== owner) tryLink(aside, lock);
  } catch {
    // Somebody else was quicker.
  }
  rmSync(aside, { force: true });
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
