import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import type { Command } from 'commander';
import { parseCurrencyOption } from '../../frame/options.js';
import {
  addReferenceCommand,
  CONTROL_OPTION,
  type ReferenceOptions,
  runReferenceProgram,
} from '../../frame/reference-program.js';
import { indent, paragraphs, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

const KEY_FILE = 'bridge.key';

const EXAMPLES = `
Examples:
  $ perennial institution
  $ perennial institution --notice-url http://127.0.0.1:8080/gateway/v1/notices/REFBANK --control`;

interface InstitutionOptions extends ReferenceOptions {
  readonly noticeUrl?: string;
  readonly currency: string;
}

export function addInstitutionCommand(perennial: Command): void {
  const description = 'run the reference payment institution';
  addReferenceCommand(perennial, { name: 'institution', description, port: 8090, keyFile: KEY_FILE })
    .option('--notice-url <url>', 'where notices are sent; without it results are told only to those who ask')
    .option('--currency <code>', 'currency of every amount', parseCurrencyOption, DEFAULT_CURRENCY)
    .option(...CONTROL_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run({ noticeUrl, currency, ...options }: InstitutionOptions): Promise<void> {
  // Loaded here, so that the other commands start without an HTTP server.
  const { FAULTS, startInstitution } = await import('@perennial/reference-peers');
  const faults = FAULTS.map(({ tail, name, does }) => [tail, name, does]);
  const tails = table(['TAIL', 'FAULT', 'WHAT IT DOES'], faults);
  const aTail = safeText`A tail is the last four characters of the bound card, or of a shared agreement number.`;
  const start: typeof startInstitution = (more) =>
    startInstitution({ ...more, currency, ...(noticeUrl === undefined ? {} : { noticeUrl }) });
  await runReferenceProgram(options, KEY_FILE, start, ({ url, keyPath, folder, control }) => {
    const rows = record([
      ['Bridge', url],
      ['Key', keyPath],
      ['Ledger', folder],
      ['Currency', currency],
      ['Notices', noticeUrl ?? 'none are sent'],
      ['Control', control],
    ]);
    const ready = safeText`\nThe reference institution is ready. It moves no money.\n\n${indent(rows)}\n`;
    return safeText`${ready}\n${indent(paragraphs([tails, aTail]))}\n`;
  });
}
