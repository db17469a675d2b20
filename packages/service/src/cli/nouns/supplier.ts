import path from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../platform/clock.js';
import { PlainError } from '../../platform/plain-error.js';
import { parseWholeNumber } from '../frame/options.js';
import {
  explainListenError,
  printToStderr,
  readOrCreateKeyFile,
  waitForStopSignal,
} from '../frame/reference-program.js';
import { indent, safeText } from '../frame/shown.js';
import { record } from '../frame/table.js';

const EXAMPLES = `
Examples:
  $ perennial supplier
  $ perennial supplier --port 0 --control`;

interface Options {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly keyFile?: string;
  readonly control?: boolean;
}

export function addSupplierCommand(perennial: Command): void {
  perennial
    .command('supplier')
    .description('run the reference supplier of codes until Ctrl-C; it needs no database')
    .option('--port <n>', 'port to listen on, 0 for any that is free', parseWholeNumber, 8091)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data-dir <folder>', 'where its ledger is kept', path.join('data', 'supplier'))
    .option(
      '--key-file <file>',
      'key shared with the service, 32 bytes in base64 (default: supplier.key in the data folder, made when missing)',
    )
    .option('--control', 'serve GET /ledger and POST /control to this machine')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run({ port, host, dataDir, keyFile, control = false }: Options): Promise<void> {
  if (port > 65_535) throw new PlainError('--port must be a whole number from 0 to 65535');
  // Loaded here, so that the other commands start without an HTTP server.
  const { startSupplier } = await import('@perennial/reference-peers');
  const folder = path.resolve(dataDir);
  const keyPath = path.resolve(keyFile ?? path.join(folder, 'supplier.key'));
  const key = await readOrCreateKeyFile(keyPath);
  const supplier = await startSupplier({ dataDir: folder, port, host, key, control, clock: systemClock }).catch(
    (error: unknown) => {
      throw explainListenError(error);
    },
  );
  const rows: [string, string][] = [
    ['Supplier', supplier.url],
    ['Key', keyPath],
    ['Ledger', folder],
    ['Control', control ? `${supplier.url}/control, ${supplier.url}/ledger` : 'off'],
  ];
  printToStderr(safeText`\nThe reference supplier is ready. Its codes buy nothing.\n\n${indent(record(rows))}\n`);

  await waitForStopSignal();
  printToStderr('Stopping.');
  await supplier.stop();
}
