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
import { indent, paragraphs, safeText } from '../frame/shown.js';
import { record, table } from '../frame/table.js';

const EXAMPLES = `
Examples:
  $ perennial institution
  $ perennial institution --notice-url http://127.0.0.1:8080/gateway/v1/notices/REFBANK --control`;

interface Options {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly keyFile?: string;
  readonly noticeUrl?: string;
  readonly control?: boolean;
}

export function addInstitutionCommand(perennial: Command): void {
  perennial
    .command('institution')
    .description('run the reference payment institution until Ctrl-C; it needs no database')
    .option('--port <n>', 'port to listen on, 0 for any that is free', parseWholeNumber, 8090)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data-dir <folder>', 'where its ledger is kept', path.join('data', 'institution'))
    .option(
      '--key-file <file>',
      'key shared with the service, 32 bytes in base64 (default: bridge.key in the data folder, made when missing)',
    )
    .option('--notice-url <url>', 'where notices are sent; without it results are told only to those who ask')
    .option('--control', 'serve GET /ledger and POST /control to this machine')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run({ port, host, dataDir, keyFile, noticeUrl, control = false }: Options): Promise<void> {
  if (port > 65_535) throw new PlainError('--port must be a whole number from 0 to 65535');
  // Loaded here, so that the other commands start without an HTTP server.
  const { FAULTS, startInstitution } = await import('@perennial/reference-peers');
  const folder = path.resolve(dataDir);
  const keyPath = path.resolve(keyFile ?? path.join(folder, 'bridge.key'));
  const key = await readOrCreateKeyFile(keyPath);
  const institution = await startInstitution({
    dataDir: folder,
    port,
    host,
    key,
    ...(noticeUrl === undefined ? {} : { noticeUrl }),
    control,
    clock: systemClock,
  }).catch((error: unknown) => {
    throw explainListenError(error);
  });

  const rows: [string, string][] = [
    ['Bridge', institution.url],
    ['Key', keyPath],
    ['Ledger', folder],
    ['Notices', noticeUrl ?? 'none are sent'],
    ['Control', control ? `${institution.url}/control, ${institution.url}/ledger` : 'off'],
  ];
  const faults = FAULTS.map(({ tail, name, does }) => [tail, name, does]);
  const tails = table(['TAIL', 'FAULT', 'WHAT IT DOES'], faults);
  const aTail = safeText`A tail is the last four characters of the bound card, or of a shared agreement number.`;
  printToStderr(safeText`\nThe reference institution is ready. It moves no money.\n\n${indent(record(rows))}\n`);
  printToStderr(safeText`${indent(paragraphs([tails, aTail]))}\n`);

  await waitForStopSignal();
  printToStderr('Stopping.');
  await institution.stop();
}
