import { createReadStream, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { PeerError } from './peer-error.js';

/** JSON lines that are only appended. A line whose append has resolved is on the disk. */
export interface Journal {
  /** Resolves once this line, and with it every line before, is on the disk. */
  append(entry: object): Promise<void>;
  /** Resolves once everything appended so far is. */
  untilSynced(): Promise<void>;
  close(): Promise<void>;
}

/** Hands every line to `replay`, then takes new ones. A last line that was being written at a crash is cut off. */
export async function openJournal(file: string, replay: (entry: unknown) => void): Promise<Journal> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'a+', 0o600);
  try {
    // One that was there may have been made readable to others.
    await handle.chmod(0o600);
    await recover(handle, file, replay);
    await syncFolder(path.dirname(file));
  } catch (error) {
    await handle.close();
    throw error;
  }
  return createGroupCommit(handle);
}

/** Lines that wait are written and synced together: while one sync runs, the next group gathers. */
function createGroupCommit(handle: FileHandle): Journal {
  let gathering = createBatch();
  let latest = gathering;
  let flushing = Promise.resolve();
  let running = false;
  let failure: Error | undefined;

  async function flush(): Promise<void> {
    while (gathering.lines.length > 0) {
      const current = gathering;
      latest = current;
      gathering = createBatch();
      try {
        // The write into the page cache is synchronous, which is faster than the thread pool; the sync uses that.
        writeAll(handle.fd, Buffer.from(current.lines.join('')));
        await handle.datasync();
        current.done();
      } catch (cause) {
        // What is on the disk is not known until the file is read again.
        failure = new Error('the journal cannot be written; start the program again', { cause });
        current.failed(failure);
        gathering.failed(failure);
        return;
      }
    }
    running = false;
  }

  return {
    append(entry) {
      if (failure !== undefined) return Promise.reject(failure);
      gathering.lines.push(`${JSON.stringify(entry)}\n`);
      const { written } = gathering;
      if (!running) {
        running = true;
        // After this turn's requests, so that they share one sync.
        flushing = new Promise((resolve) => setImmediate(resolve)).then(flush);
      }
      return written;
    },
    async untilSynced() {
      if (running) await (gathering.lines.length > 0 ? gathering : latest).written;
      if (failure !== undefined) throw failure;
    },
    async close() {
      await flushing;
      await handle.close();
    },
  };
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function createBatch() {
  let done: () => void = () => undefined;
  let failed: (error: Error) => void = () => undefined;
  const written = new Promise<void>((resolve, reject) => {
    done = resolve;
    failed = reject;
  });
  // Callers of append get the failure; an empty batch has no caller.
  written.catch(() => undefined);
  const lines: string[] = [];
  return { lines, written, done, failed };
}

async function recover(handle: FileHandle, file: string, replay: (entry: unknown) => void): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  let whole = 0;
  for await (const chunk of createReadStream(file)) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      line += 1;
      replay(parseLine(rest.subarray(0, end), file, line));
      whole += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length === 0) return;
  // The line was never acknowledged: that waits for the sync of the whole line.
  await handle.truncate(whole);
  await handle.sync();
}

function parseLine(bytes: Buffer, file: string, line: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new PeerError(`${file} is damaged at line ${line}: it was changed by something other than this program`);
  }
}

/** Otherwise a power cut may take the new file's name away. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
