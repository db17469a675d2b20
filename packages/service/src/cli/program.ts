import { Command } from 'commander';
import type { Row } from '../operations/operation.js';
import { VERSION } from '../platform/version.js';
import { addSettlementReportCommand } from './commands/books/settlement-report.js';
import { addCheckBridgeCommand } from './commands/bridges/check-bridge.js';
import { addCellCommands } from './commands/cells/cell.js';
import { addAlertTestCommand } from './commands/installation/alert-test.js';
import { addBackupCommands } from './commands/installation/backup.js';
import { addMasterKeyCommands } from './commands/installation/master-key.js';
import { addMigrateCommand } from './commands/installation/migrate.js';
import type { CommandLine } from './frame/command.js';
import { addRow } from './frame/operations.js';

/** Description of a noun, the module with its table rows, and the function that adds its other commands. */
type Noun = readonly [
  description: string,
  load: () => Promise<Readonly<Record<string, readonly Row[]>>>,
  add?: (noun: Command, commandLine: CommandLine) => void,
];

/**
 * Nouns of the command line. A command loads only the rows of the nouns that it names, because loading all rows is
 * slow.
 */
const NOUNS: Readonly<Record<string, Noun>> = {
  channel: ['partner platforms: credentials, authorizations, limits', () => import('../operations/channels.js')],
  product: ['what is sold: cycle, price, settlement modes, benefits', () => import('../operations/products.js')],
  'payment-channel': [
    'payment institutions: banks, gateway and pacing of debits',
    () => import('../operations/payment-channels.js'),
  ],
  order: ['subscriptions of all channels: show, refund, end, retry', () => import('../operations/orders.js')],
  agreement: ['agreements that debits are made on', () => import('../operations/orders.js')],
  user: ['personal data of one user: export, erase', () => import('../operations/users.js')],
  events: ['events for channels, and their delivery', () => import('../operations/events.js')],
  alert: ['problems that need an operator', () => import('../operations/alerts.js'), addAlertTestCommand],
  reconciliation: [
    'institutions’ daily statements compared with this database',
    () => import('../operations/reconciliation.js'),
  ],
  settlement: [
    'collected, refunded and billed amounts',
    () => import('../operations/settlement.js'),
    addSettlementReportCommand,
  ],
  benefit: ['sources of the codes of claimed benefits', () => import('../operations/benefits.js')],
  audit: ['who changed what, and when', () => import('../operations/audit.js')],
  operator: ['people who may sign in to the console', () => import('../operations/people.js')],
};

/** Creates the commands of the nouns in `words`, or of all nouns. `showHelp` receives help that was not asked for. */
export async function createProgram(
  commandLine: CommandLine,
  words: readonly string[] | undefined,
  showHelp: (help: string) => void,
): Promise<Command> {
  const perennial = new Command('perennial')
    .description('Provisioning and operation of the subscription service. Settings are those of the service itself.')
    .version(VERSION, '--version')
    // Set first, because all commands created below inherit it.
    .exitOverride()
    .configureOutput({
      // Errors are printed elsewhere, on one line. So `writeErr` gets only help that the user did not ask for.
      outputError: () => undefined,
      writeErr: showHelp,
      writeOut: (text) => commandLine.stdout.write(text),
    })
    .addHelpText('after', '\nHelp for one command:\n  $ perennial channel create --help');
  perennial
    .command('start')
    .description('run the service until Ctrl-C')
    .addHelpText('after', '\nSettings are environment variables, such as the port:\n  $ PORT=8081 perennial start')
    .action(async () => {
      await import('../main.js');
    });
  for (const [name, [description, load, add]] of Object.entries(NOUNS)) {
    const noun = perennial.command(name).description(description);
    if (words && !words.includes(name)) continue;
    for (const row of Object.values(await load()).flat()) {
      if (row.command?.usage.startsWith(`${name} `)) addRow(noun, row, row.command, commandLine);
    }
    add?.(noun, commandLine);
  }
  addCheckBridgeCommand(perennial, commandLine);
  addMasterKeyCommands(perennial, commandLine);
  addBackupCommands(perennial, commandLine);
  addMigrateCommand(perennial, commandLine);
  addCellCommands(perennial, commandLine);
  return perennial;
}
