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

interface Noun {
  readonly description: string;
  /** The rows of the table among which its commands are. */
  readonly load: () => Promise<readonly Row[]>;
  /** Adds those of its commands that are not in the table. */
  readonly add?: (noun: Command, commandLine: CommandLine) => void;
}

/** What operators have to do with. Of the table only the rows of the nouns that are asked for are loaded: all of them take long. */
const NOUNS: Readonly<Record<string, Noun>> = {
  channel: {
    description: 'partner platforms: credentials, authorizations, limits',
    load: async () => (await import('../operations/channels.js')).channelOperations,
  },
  product: {
    description: 'what is sold: cycle, price, settlement modes, benefits',
    load: async () => (await import('../operations/products.js')).productOperations,
  },
  'payment-channel': {
    description: 'payment institutions: banks, gateway and pacing of debits',
    load: async () => (await import('../operations/payment-channels.js')).paymentChannelOperations,
  },
  order: {
    description: 'subscriptions of all channels: look, refund, end, try again',
    load: async () => (await import('../operations/orders.js')).orderOperations,
  },
  agreement: {
    description: 'agreements that debits are made on',
    load: async () => (await import('../operations/orders.js')).orderOperations,
  },
  events: {
    description: 'what channels are told, and whether it has arrived',
    load: async () => (await import('../operations/events.js')).eventOperations,
  },
  alert: {
    description: 'what a person has to look at',
    load: async () => (await import('../operations/alerts.js')).alertOperations,
    add: addAlertTestCommand,
  },
  reconciliation: {
    description: 'institutions’ statements of a day against what is known here',
    load: async () => (await import('../operations/reconciliation.js')).reconciliationOperations,
  },
  settlement: {
    description: 'what was collected, refunded and billed',
    load: async () => (await import('../operations/settlement.js')).settlementOperations,
    add: addSettlementReportCommand,
  },
  benefit: {
    description: 'where the codes of claimed benefits come from',
    load: async () => (await import('../operations/benefits.js')).benefitOperations,
  },
  audit: {
    description: 'who changed what, and when',
    load: async () => (await import('../operations/audit.js')).auditOperations,
  },
  operator: {
    description: 'people who may sign in to the console',
    load: async () => (await import('../operations/people.js')).peopleOperations,
  },
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
  for (const [name, { description, load, add }] of Object.entries(NOUNS)) {
    const noun = perennial.command(name).description(description);
    if (words && !words.includes(name)) continue;
    for (const row of await load()) {
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
