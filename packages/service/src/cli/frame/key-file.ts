import { readFile } from 'node:fs/promises';
import { PlainError } from '../../platform/plain-error.js';

/** Undefined when there is no such file. */
export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new PlainError(`the key cannot be read: ${error.message}`);
  });
  return text === undefined ? undefined : parseKey(text, file);
}

/** `where` it was found is in the error, and nothing of the key. */
export function parseKey(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  // Node's decoder skips what is not base64, so only a value that it would write itself counts.
  if (key.length !== 32 || key.toString('base64') !== text.trim()) {
    throw new PlainError(`${where} must hold 32 bytes in base64`);
  }
  return key;
}
