import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    const owner = readOwner(lock);
    // Of a process that has ended without letting it go.
    if (owner !== undefined && (owner === pid || !isRunning(owner))) rmSync(lock, { force: true });
    // A link is there with its content or not at all, unlike a file that is made and then written.
    linkSync(own, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
    }
    throw new CommandError(
      `process ${readOwner(lock)} is listening with ${file}: end it, or name another file with --state. If it is no listen any more, delete ${lock}`,
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
