import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import { addReconciliationCommands } from './commands/books/reconciliation.js';
import { addSettlementCommands } from './commands/books/settlement.js';
import { addCheckBridgeCommand } from './commands/bridges/check-bridge.js';
import { addAuditCommands } from './commands/installation/audit.js';
import { addBackupCommands } from './commands/installation/backup.js';
import { addMasterKeyCommands } from './commands/installation/master-key.js';
import { addMigrateCommand } from './commands/installation/migrate.js';
import { addOperatorCommands } from './commands/installation/operator.js';
import { addAlertCommands } from './commands/notifications/alert.js';
import { addEventCommands } from './commands/notifications/events.js';
import { addAgreementCommands } from './commands/orders/agreement.js';
import { addOrderCommands } from './commands/orders/order.js';
import { addBenefitCommands } from './commands/provisioning/benefit.js';
import { addChannelCommands } from './commands/provisioning/channel.js';
import { addPaymentChannelCommands } from './commands/provisioning/payment-channel.js';
import { addProductCommands } from './commands/provisioning/product.js';
import type { CommandLine } from './frame/command.js';

/** All commands. `showHelp` gets help that was not asked for. */
export function createProgram(commandLine: CommandLine, showHelp: (help: string) => void): Command {
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
  addChannelCommands(perennial, commandLine);
  addProductCommands(perennial, commandLine);
  addPaymentChannelCommands(perennial, commandLine);
  addOrderCommands(perennial, commandLine);
  addAgreementCommands(perennial, commandLine);
  addEventCommands(perennial, commandLine);
  addAlertCommands(perennial, commandLine);
  addReconciliationCommands(perennial, commandLine);
  addSettlementCommands(perennial, commandLine);
  addBenefitCommands(perennial, commandLine);
  addCheckBridgeCommand(perennial, commandLine);
  addMasterKeyCommands(perennial, commandLine);
  addBackupCommands(perennial, commandLine);
  addMigrateCommand(perennial, commandLine);
  addAuditCommands(perennial, commandLine);
  addOperatorCommands(perennial, commandLine);
  return perennial;
}
