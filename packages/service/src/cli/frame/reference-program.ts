import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PlainError } from '../../platform/plain-error.js';
import { stopOnSignals } from '../../platform/stop-signals.js';
import { type SafeText, toTerminalText } from './shown.js';

/** What the reference programs have in common: their key, their end, what they say. */

export async function waitForStopSignal(): Promise<void> {
  const stopping = new AbortController();
  stopOnSignals(stopping);
  await once(stopping.signal, 'abort');
}

export async function readOrCreateKeyFile(file: string): Promise<Buffer> {
  return (await readKeyFile(file)) ?? createKeyFile(file);
}

/** Nothing when there is no such file. */
export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new PlainError(`the key cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text.trim(), 'base64');
  // Node's decoder skips what is not base64, so only a value that it would write itself counts.
  if (key.length !== 32 || key.toString('base64') !== text.trim()) {
    throw new PlainError(`${file} must hold 32 bytes in base64`);
  }
  return key;
}

async function createKeyFile(file: string): Promise<Buffer> {
  const key = randomBytes(32);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

export function explainListenError(error: unknown): unknown {
  const failed = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  if (!(error instanceof Error)) return error;
  if (failed === 'listen') return new PlainError(`cannot listen: ${error.message}; set --port or --host`);
  if (failed === 'getaddrinfo') return new PlainError(`cannot listen: ${error.message}; check --host`);
  return error;
}

/** As the service does: what is told to people goes to stderr. */
export function printToStderr(text: string | SafeText): void {
  process.stderr.write(`${toTerminalText(text)}\n`);
}
