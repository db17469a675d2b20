import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.js';
import { jsonText } from '../visible.js';
import { addAgreement } from './agreement.js';
import { addAlert } from './alert.js';
import { addAudit } from './audit.js';
import { addBackup } from './backup.js';
import { addBenefit } from './benefit.js';
import { addChannel } from './channel.js';
import { addEvents } from './events.js';
import { addInstitution } from './institution.js';
import { addMasterKey } from './master-key.js';
import { addMigrate } from './migrate.js';
import { addOrder } from './order.js';
import { addPaymentChannel } from './payment-channel.js';
import { addProduct } from './product.js';
import { addReconciliation } from './reconciliation.js';
import { addSettlement } from './settlement.js';
import { terminalText } from './shown.js';
import { addSupplier } from './supplier.js';

const argv = process.argv.slice(2);
const json = argv.includes('--json');

function program(): Command {
  const perennial = new Command('perennial')
    .description('Provisioning and operation of the subscription service. Settings are those of the service itself.')
    .version(VERSION, '--version')
    // Every command made below takes these over, so they come first.
    .exitOverride()
    .configureOutput({
      // Messages are printed below, on one line; only help that nobody asked for is left.
      outputError: () => undefined,
      writeErr: (help) => {
        if (!json) process.stderr.write(help);
      },
    })
    .addHelpText('after', '\nHelp for one command:\n  $ perennial channel create --help');
  addChannel(perennial);
  addProduct(perennial);
  addPaymentChannel(perennial);
  addOrder(perennial);
  addAgreement(perennial);
  addEvents(perennial);
  addAlert(perennial);
  addReconciliation(perennial);
  addSettlement(perennial);
  addBenefit(perennial);
  addInstitution(perennial);
  addSupplier(perennial);
  addMasterKey(perennial);
  addBackup(perennial);
  addMigrate(perennial);
  addAudit(perennial);
  return perennial;
}

/** The one line, or nothing when commander has already shown what was asked for. */
function problem(error: unknown): string | undefined {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // A noun without a verb: the help it got says more.
    if (error.code === 'commander.help') return json ? 'no command is given' : undefined;
    return oneLine(error.message).replace(/^error: /, '');
  }
  return oneLine(error instanceof Error ? error.message : String(error)) || 'something went wrong';
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early: what it wanted to see it has seen.
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    if (stream === process.stdout) fail(`the answer cannot be written: ${error.message}`);
  });
}

function fail(line: string): void {
  process.stderr.write(json ? `${jsonText({ error: line })}\n` : `perennial: ${terminalText(line)}\n`);
}

try {
  await program().parseAsync(argv, { from: 'user' });
} catch (error) {
  const line = problem(error);
  if (line !== undefined) fail(line);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
