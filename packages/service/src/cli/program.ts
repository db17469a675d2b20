import { Command } from 'commander';
import type { Row } from '../operations/operation.js';
import { VERSION } from '../platform/version.js';
import { addSettlementReportCommand } from './commands/books/settlement-report.js';
import { addCheckBridgeCommand } from './commands/bridges/check-bridge.js';
import { addAlertTestCommand } from './commands/installation/alert-test.js';
import { addBackupCommands } from './commands/installation/backup.js';
import { addMasterKeyCommands } from './commands/installation/master-key.js';
import { addMigrateCommand } from './commands/installation/migrate.js';
import type { CommandLine } from './frame/command.js';
import { addRow } from './frame/operations.js';

/** What it is, the module of the table that has its rows, and what adds those of its commands that are not in the table. */
type Noun = readonly [
  description: string,
  load: () => Promise<Readonly<Record<string, readonly Row[]>>>,
  add?: (noun: Command, commandLine: CommandLine) => void,
];

/** What operators have to do with. Only the rows of the nouns that are asked for are loaded: all of them take long. */
const NOUNS: Readonly<Record<string, Noun>> = {
  channel: ['partner platforms: credentials, authorizations, limits', () => import('../operations/channels.js')],
  product: ['what is sold: cycle, price, settlement modes, benefits', () => import('../operations/products.js')],
  'payment-channel': [
    'payment institutions: banks, gateway and pacing of debits',
    () => import('../operations/payment-channels.js'),
  ],
  order: ['subscriptions of all channels: look, refund, end, try again', () => import('../operations/orders.js')],
  agreement: ['agreements that debits are made on', () => import('../operations/orders.js')],
  events: ['what channels are told, and whether it has arrived', () => import('../operations/events.js')],
  alert: ['what a person has to look at', () => import('../operations/alerts.js'), addAlertTestCommand],
  reconciliation: [
    'institutions’ statements of a day against what is known here',
    () => import('../operations/reconciliation.js'),
  ],
  settlement: [
    'what was collected, refunded and billed',
    () => import('../operations/settlement.js'),
    addSettlementReportCommand,
  ],
  benefit: ['where the codes of claimed benefits come from', () => import('../operations/benefits.js')],
  audit: ['who changed what, and when', () => import('../operations/audit.js')],
  operator: ['people who may sign in to the console', () => import('../operations/people.js')],
};

/** All commands; if words are given, of the nouns only those that are among them. `showHelp` gets help that was not asked for. */
export async function createProgram(
  commandLine: CommandLine,
  words: readonly string[] | undefined,
  showHelp: (help: string) => void,
): Promise<Command> {
  const perennial = new Command('perennial')
    .description('Provisioning and operation of the subscription service. Settings are those of the service itself.')
    .version(VERSION, '--version')
    // Every command made below takes these over, so they come first.
    .exitOverride()
    .configureOutput({
      // Errors are printed elsewhere, on one line; only help that was not asked for is left.
      outputError: () => undefined,
      writeErr: showHelp,
      writeOut: (text) => commandLine.stdout.write(text),
    })
    .addHelpText('after', '\nHelp for one command:\n  $ perennial channel create --help');
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
  return perennial;
}
