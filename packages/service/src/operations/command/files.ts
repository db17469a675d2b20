import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { OperatorError } from '../../operator/operator.js';
import { MAX_PICTURE_BYTES } from '../../platform/pictures/picture.js';

/** Returns a handler that throws the same kind of error for every unreadable file. */

const cannotRead = (what: string) => (error: unknown) => {
  throw new OperatorError(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
};

/**
 * Returns a function that reads the picture and returns it in base64, or `none` unchanged. Of a file that is too large
 * it reads only enough to refuse it.
 */
export const readPictureFile = (file: string) =>
  file === 'none' ? file : () => readStart(file).catch(cannotRead('the picture'));

async function readStart(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_PICTURE_BYTES + 1));
    return buffer.toString('base64', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

export const readKeyOption = (file: string) => async () => {
  const key = await readKeyFile(file);
  if (key === undefined) throw new OperatorError(`there is no file ${file}`);
  return key.toString('base64');
};

/** Returns undefined if the file does not exist. */
export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') cannotRead('the key')(error);
  });
  return text === undefined ? undefined : parseKey(text, file);
}

/** Throws an error that names `where` and never quotes the key. */
export function parseKey(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  // Encodes the key again and compares the texts, because Node's decoder skips invalid characters.
  if (key.length === 32 && key.toString('base64') === text.trim()) return key;
  throw new OperatorError(`${where} must hold 32 bytes in base64`);
}

export const readJsonFile = (what: string) => (file: string) => () =>
  readFile(file, 'utf8')
    .then((text) => JSON.parse(text) as unknown)
    .catch(cannotRead(what));

/** Writes a file that only the current user can read. Fails if it exists, because the existing file may be evidence. */
export async function writeNewJsonFile(file: string, value: object): Promise<void> {
  await writeNewFile(file, (handle) => handle.writeFile(`${JSON.stringify(value)}\n`)).catch((error: Error) => {
    throw new OperatorError(`the file cannot be written: ${error.message}`);
  });
}

/** Streams the bytes of a file, because it may be large. The console sends the same field as one string. */
export const readFileInPieces = (what: string) => (file: string) => () => pieces(what, file);

async function* pieces(what: string, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    cannotRead(what)(error);
  }
}

/** The maximum size of a request body with a file. A file of 5 MB, which is sent as a JSON string, fits. */
export const MAX_UPLOAD_BYTES = 6_250_000;

/** Parsing a slice of short lines takes about 10 ms. */
const SLICE_BYTES = 4_096;

/**
 * Yields the bytes of a text from the console, or of a file that was given on the command line. Yields a text in slices,
 * each in its own turn of the event loop, because parsing the whole text at once would block the node for seconds.
 */
export async function* toBytes(given: string | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof given !== 'string') return yield* given;
  const bytes = Buffer.from(given);
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    await setImmediate();
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}

export const readPassword = () => async () => {
  const given = (await readAll(process.stdin)).replace(/\r?\n$/, '');
  if (given === '') throw new OperatorError('there is no password on standard input');
  return given;
};

/**
 * Writes to a temporary file and then renames it, so that a reader sees either the former file or the complete new one.
 * The new file is readable only by the current user, whatever the old mode was.
 */
export async function savePrivately<T>(
  given: string,
  what: string,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = path.resolve(given);
  if ((await stat(file).catch(() => undefined))?.isFile() === false) {
    throw new OperatorError(`${what} cannot be written: ${file} is not a file`);
  }
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    const written = await writeNewFile(unfinished, write);
    await rename(unfinished, file);
    return written;
  } catch (error) {
    await rm(unfinished, { force: true });
    const failed = error instanceof Error && 'syscall' in error ? error.message : undefined;
    throw failed === undefined ? error : new OperatorError(`${what} cannot be written: ${failed}`);
  }
}

export async function writeNewFile<T>(file: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, 'wx', 0o600);
  try {
    const written = await write(handle);
    await handle.sync();
    return written;
  } finally {
    await handle.close();
  }
}

/**
 * Writes a long text to a temporary file and returns its pieces, because the reader may be slow, and a text that fails
 * must not be sent in part. The file has no name, so nothing is left behind if the process dies.
 */
export async function spool(
  write: (take: (text: string) => Promise<unknown>) => Promise<unknown>,
): Promise<AsyncIterable<string>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-'));
  const handle = await open(path.join(folder, 'text'), 'wx+', 0o600);
  try {
    await rm(folder, { recursive: true });
    await write((text) => handle.appendFile(text));
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle.createReadStream({ encoding: 'utf8', start: 0 });
}
