import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { OperatorError } from '../../operator/operator.js';
import { MAX_PICTURE_BYTES } from '../../platform/pictures/picture.js';

/** Readers of fields that a command takes from a file. It is opened when the command runs, so that all of them fail alike. */

const cannotRead = (what: string) => (error: unknown) => {
  throw new OperatorError(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
};

/** In base64, as the console sends it; one byte more than a picture may have if there are more. `none` stays. */
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

/** Undefined when there is no such file. */
export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') cannotRead('the key')(error);
  });
  return text === undefined ? undefined : parseKey(text, file);
}

/** `where` it was found is in the error, and nothing of the key. */
export function parseKey(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  // Node's decoder skips what is not base64, so only a value that it would write itself counts.
  if (key.length === 32 && key.toString('base64') === text.trim()) return key;
  throw new OperatorError(`${where} must hold 32 bytes in base64`);
}

/** The bytes themselves, in place of the text that the console sends: a file may be large. */
export const readFileInPieces = (what: string) => (file: string) => () => pieces(what, file);

async function* pieces(what: string, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    cannotRead(what)(error);
  }
}

/** A text that the console sends, or the pieces of a file of the command line. */
export async function* toBytes(given: string | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof given === 'string') yield Buffer.from(given);
  else yield* given;
}

export const readPassword = () => async () => {
  const given = (await readAll(process.stdin)).replace(/\r?\n$/, '');
  if (given === '') throw new OperatorError('there is no password on standard input');
  return given;
};
