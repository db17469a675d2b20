import { Command } from 'commander';
import { VERSION } from '../version.js';
import { addAgreement } from './agreement.js';
import { addAlert } from './alert.js';
import { addAudit } from './audit.js';
import { addBackup } from './backup.js';
import { addBenefit } from './benefit.js';
import { addChannel } from './channel.js';
import type { CommandLine } from './command.js';
import { addEvents } from './events.js';
import { addInstitution } from './institution.js';
import { addMasterKey } from './master-key.js';
import { addMigrate } from './migrate.js';
import { addOrder } from './order.js';
import { addPaymentChannel } from './payment-channel.js';
import { addProduct } from './product.js';
import { addReconciliation } from './reconciliation.js';
import { addSettlement } from './settlement.js';
import { addSupplier } from './supplier.js';

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
