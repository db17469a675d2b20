import type { Command } from 'commander';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { safeText } from '../../frame/safe-text.js';

// Loaded by the command: with it come the schemas of the interface, which take longer than all the rest.
const agreements = () => import('../../../operator/orders/agreements.js');

export function addAgreementCommands(program: Command, { performWithEngine }: CommandLine): void {
  const agreement = program.command('agreement').description('agreements that debits are made on');

  addCommand(agreement, 'cancel <agreement-no>', 'end an agreement, and every active order on it', [
    'cancel AG200000000001 --reason "asked for by the user"',
  ])
    .option('--reason <text>', 'why, kept with each order')
    .action(async (agreementNo: string, { reason, ...options }: JsonOption & { readonly reason?: string }) => {
      const input = { agreementNo, ...(reason === undefined ? {} : { reason }) };
      await performWithEngine(
        options,
        async (operator) => (await agreements()).cancelAgreement(operator, input),
        ({ changed, unsubscribed }) => {
          if (!changed) return `${agreementNo} was canceled already`;
          const orders = unsubscribed.length === 0 ? 'no order ran on it' : `unsubscribed: ${unsubscribed.join(', ')}`;
          return safeText`${agreementNo} is canceled, and its institution is told in the background\n${orders}`;
        },
      );
    });
}
