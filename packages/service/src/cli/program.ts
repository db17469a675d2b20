import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import type { CommandLine } from './frame/command.js';
import { addAgreement } from './nouns/agreement.js';
import { addAlert } from './nouns/alert.js';
import { addAudit } from './nouns/audit.js';
import { addBackup } from './nouns/backup.js';
import { addBenefit } from './nouns/benefit.js';
import { addChannel } from './nouns/channel.js';
import { addEvents } from './nouns/events.js';
import { addInstitution } from './nouns/institution.js';
import { addMasterKey } from './nouns/master-key.js';
import { addMigrate } from './nouns/migrate.js';
import { addOrder } from './nouns/order.js';
import { addPaymentChannel } from './nouns/payment-channel.js';
import { addProduct } from './nouns/product.js';
import { addReconciliation } from './nouns/reconciliation.js';
import { addSettlement } from './nouns/settlement.js';
import { addSupplier } from './nouns/supplier.js';

/** Every command that there is. `showHelp`: for help that nobody asked for. */
export function program(commandLine: CommandLine, showHelp: (help: string) => void): Command {
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
  addChannel(perennial, commandLine);
  addProduct(perennial, commandLine);
  addPaymentChannel(perennial, commandLine);
  addOrder(perennial, commandLine);
  addAgreement(perennial, commandLine);
  addEvents(perennial, commandLine);
  addAlert(perennial, commandLine);
  addReconciliation(perennial, commandLine);
  addSettlement(perennial, commandLine);
  addBenefit(perennial, commandLine);
  addInstitution(perennial);
  addSupplier(perennial);
  addMasterKey(perennial, commandLine);
  addBackup(perennial, commandLine);
  addMigrate(perennial, commandLine);
  addAudit(perennial, commandLine);
  return perennial;
}
