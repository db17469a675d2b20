import type { Command } from 'commander';
import {
  addReferenceCommand,
  CONTROL_OPTION,
  type ReferenceOptions,
  runReferenceProgram,
} from '../../frame/reference-program.js';
import { indent, safeText } from '../../frame/safe-text.js';
import { record } from '../../frame/table.js';

const KEY_FILE = 'supplier.key';

const EXAMPLES = `
Examples:
  $ perennial supplier
  $ perennial supplier --port 0 --control`;

export function addSupplierCommand(perennial: Command): void {
  const description = 'run the reference supplier of codes';
  addReferenceCommand(perennial, { name: 'supplier', description, port: 8091, keyFile: KEY_FILE })
    .option(...CONTROL_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run(options: ReferenceOptions): Promise<void> {
  // Loaded here, so that the other commands start without an HTTP server.
  const { startSupplier } = await import('@perennial/reference-peers');
  await runReferenceProgram(options, KEY_FILE, startSupplier, ({ url, keyPath, folder, control }) => {
    const rows = record([
      ['Supplier', url],
      ['Key', keyPath],
      ['Ledger', folder],
      ['Control', control],
    ]);
    return safeText`\nThe reference supplier is ready. Its codes buy nothing.\n\n${indent(rows)}\n`;
  });
}
