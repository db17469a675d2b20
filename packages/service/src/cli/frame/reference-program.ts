import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReferenceProgram, ReferenceProgramOptions } from '@perennial/reference-peers';
import type { Command } from 'commander';
import { systemClock } from '../../platform/clock.js';
import { PlainError } from '../../platform/plain-error.js';
import { stopOnSignals } from '../../platform/stop-signals.js';
import { parseWholeNumber } from './options.js';
import { type SafeText, toTerminalText } from './safe-text.js';

/** What the commands of the reference programs have in common: their options, their key, their end. */

export interface ReferenceOptions {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly keyFile?: string;
  readonly control?: boolean;
}

interface ReferenceCommand {
  readonly name: string;
  readonly description: string;
  readonly port: number;
  /** In the data folder, unless an option says otherwise. */
  readonly keyFile: string;
}

export const CONTROL_OPTION = ['--control', 'serve GET /ledger and POST /control to this machine'] as const;

export function addReferenceCommand(
  perennial: Command,
  { name, description, port, keyFile }: ReferenceCommand,
): Command {
  return perennial
    .command(name)
    .description(`${description} until Ctrl-C; it needs no database`)
    .option('--port <n>', 'port to listen on, 0 for any that is free', parseWholeNumber, port)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data-dir <folder>', 'where its ledger is kept', path.join('data', name))
    .option(
      '--key-file <file>',
      `key shared with the service, 32 bytes in base64 (default: ${keyFile} in the data folder, made when missing)`,
    );
}

interface Running {
  readonly url: string;
  readonly keyPath: string;
  readonly folder: string;
  /** Where it is controlled, or that it is not. */
  readonly control: string;
}

/** Starts a program, says where it is, and stops it when it is asked to. */
export async function runReferenceProgram(
  { port, host, dataDir, keyFile, control = false }: ReferenceOptions,
  defaultKeyFile: string,
  start: (options: ReferenceProgramOptions) => Promise<ReferenceProgram>,
  describe: (running: Running) => SafeText,
): Promise<void> {
  if (port > 65_535) throw new PlainError('--port must be a whole number from 0 to 65535');
  const folder = path.resolve(dataDir);
  const keyPath = path.resolve(keyFile ?? path.join(folder, defaultKeyFile));
  const key = await readOrCreateKeyFile(keyPath);
  const program = await start({ dataDir: folder, port, host, key, control, clock: systemClock }).catch(
    (error: unknown) => {
      throw explainListenError(error);
    },
  );
  const { url } = program;
  printToStderr(describe({ url, keyPath, folder, control: control ? `${url}/control, ${url}/ledger` : 'off' }));
  await waitForStopSignal();
  printToStderr('Stopping.');
  await program.stop();
}

async function waitForStopSignal(): Promise<void> {
  const stopping = new AbortController();
  stopOnSignals(stopping);
  await once(stopping.signal, 'abort');
}

async function readOrCreateKeyFile(file: string): Promise<Buffer> {
  return (await readKeyFile(file)) ?? createKeyFile(file);
}

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

async function createKeyFile(file: string): Promise<Buffer> {
  const key = randomBytes(32);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

function explainListenError(error: unknown): unknown {
  const failed = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  if (!(error instanceof Error)) return error;
  if (failed === 'listen') return new PlainError(`cannot listen: ${error.message}; set --port or --host`);
  if (failed === 'getaddrinfo') return new PlainError(`cannot listen: ${error.message}; check --host`);
  return error;
}

/** As the service does: stdout is for results alone. */
function printToStderr(text: string | SafeText): void {
  process.stderr.write(`${toTerminalText(text)}\n`);
}
