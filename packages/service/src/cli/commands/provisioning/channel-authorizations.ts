import type { Command } from 'commander';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../../operator/provisioning/payment-channel-authorizations.js';
import { type PeriodWarning, periodWarningText } from '../../../operator/provisioning/period-rules.js';
import { authorizeProduct, withdrawProduct } from '../../../operator/provisioning/products.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { type SafeText, safeLines } from '../../frame/safe-text.js';

export function addChannelAuthorizationCommands(channel: Command, { perform }: CommandLine): void {
  addCommand(channel, 'authorize-product <app-id> <product-code>', 'let a channel sell a product', [
    'authorize-product test_demo TEST_SPU_001',
  ]).action(async (appId: string, productCode: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => authorizeProduct(operator, { appId, productCode }),
      ({ changed, warnings }) =>
        withWarnings(`${appId} ${changed ? 'may now sell' : 'already had'} ${productCode}`, warnings),
    );
  });

  addCommand(channel, 'withdraw-product <app-id> <product-code>', 'end a channel’s right to sell a product', [
    'withdraw-product test_demo TEST_SPU_001',
  ]).action(async (appId: string, productCode: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => withdrawProduct(operator, { appId, productCode }),
      ({ changed }) => `${appId} ${changed ? 'no longer has' : 'did not have'} ${productCode}`,
    );
  });

  addCommand(
    channel,
    'authorize-payment-channel <app-id> <code>',
    'let a channel use a payment channel, or change the flags of one that it uses',
    [
      'authorize-payment-channel test_demo MOCKPAY --default --share',
      'authorize-payment-channel test_demo MOCKPAY --no-share',
    ],
  )
    .option('--default', 'used when a binding names none; takes the flag from the one that had it')
    .option('--no-default', 'not the default')
    .option('--share', 'agreements may be shared (A.2)')
    .option('--no-share', 'agreements may not be shared')
    .action(async (appId: string, code: string, { default: isDefault, share, ...options }: FlagOptions) => {
      const flags = {
        ...(isDefault === undefined ? {} : { isDefault }),
        ...(share === undefined ? {} : { shareEnabled: share }),
      };
      await perform(
        options,
        (operator) => authorizePaymentChannel(operator, { appId, code, ...flags }),
        ({ changed, paymentChannels, warnings }) => {
          const now = paymentChannels.find((one) => one.code === code);
          const words = `default ${now?.isDefault ? 'yes' : 'no'}, share ${now?.shareEnabled ? 'yes' : 'no'}`;
          return withWarnings(`${appId} ${changed ? 'may now use' : 'already had'} ${code} (${words})`, warnings);
        },
      );
    });

  addCommand(channel, 'withdraw-payment-channel <app-id> <code>', 'end a channel’s use of a payment channel', [
    'withdraw-payment-channel test_demo MOCKBANK',
  ]).action(async (appId: string, code: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => withdrawPaymentChannel(operator, { appId, code }),
      ({ changed }) => `${appId} ${changed ? 'no longer has' : 'did not have'} ${code}`,
    );
  });
}

const withWarnings = (done: string, warnings: readonly PeriodWarning[]): SafeText =>
  safeLines([done, ...warnings.map(periodWarningText)]);

interface FlagOptions extends JsonOption {
  readonly default?: boolean;
  readonly share?: boolean;
}
