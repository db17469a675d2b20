import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import type { CommandLine } from './frame/command.js';
import { addAgreementCommands } from './nouns/agreement.js';
import { addAlertCommands } from './nouns/alert.js';
import { addAuditCommands } from './nouns/audit.js';
import { addBackupCommands } from './nouns/backup.js';
import { addBenefitCommands } from './nouns/benefit.js';
import { addChannelCommands } from './nouns/channel.js';
import { addEventCommands } from './nouns/events.js';
import { addInstitutionCommand } from './nouns/institution.js';
import { addMasterKeyCommands } from './nouns/master-key.js';
import { addMigrateCommand } from './nouns/migrate.js';
import { addOrderCommands } from './nouns/order.js';
import { addPaymentChannelCommands } from './nouns/payment-channel.js';
import { addProductCommands } from './nouns/product.js';
import { addReconciliationCommands } from './nouns/reconciliation.js';
import { addSettlementCommands } from './nouns/settlement.js';
import { addSupplierCommand } from './nouns/supplier.js';

/** Every command that there is. `showHelp`: for help that nobody asked for. */
export function createProgram(commandLine: CommandLine, showHelp: (help: string) => void): Command {
  const perennial = new Command('perennial')
    .description('Provisioning and operation of the subscription service. Settings are those of the service itself.')
    .version(VERSION, '--version')
    // Every command made below takes these over, so they come first.
    .exitOverride()
    .configureOutput({
      // Messages are printed elsewhere, on one line; only help that nobody asked for is left.
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
  addInstitutionCommand(perennial);
  addSupplierCommand(perennial);
  addMasterKeyCommands(perennial, commandLine);
  addBackupCommands(perennial, commandLine);
  addMigrateCommand(perennial, commandLine);
  addAuditCommands(perennial, commandLine);
  return perennial;
}
