import type { Command } from 'commander';
import type {
  PaymentChannelFields,
  PaymentChannelView,
} from '../../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import {
  createPaymentChannel,
  listPaymentChannels,
  type OneTimeGatewayKey,
  resetGatewayKey,
  updatePaymentChannel,
} from '../../../operator/provisioning/payment-channels.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { type OrNone, parseHours, parseList, parseWholeNumberOrNone } from '../../frame/options.js';
import { type SafeText, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

export function addPaymentChannelCommands(program: Command, { perform, performList }: CommandLine): void {
  const paymentChannel = program
    .command('payment-channel')
    .description('payment institutions: banks, gateway and pacing of debits');

  addFieldOptions(
    addCommand(paymentChannel, 'create <code>', 'make a payment channel', [
      'create MOCKPAY --name "Mock Pay" --gateway sandbox --banks "*"',
      'create UNIPAY --name "Uni Pay" --gateway bridge --gateway-url https://bridge.example/uni \\\n' +
        '      --banks ICBC,CCB --bank-code-required --debits-per-second 50 --debit-hours 8-22',
    ])
      .requiredOption('--name <text>', 'name shown to end users')
      .requiredOption('--gateway <gateway>', 'sandbox (charges nobody, sandbox only) or bridge')
      .requiredOption('--banks <codes>', '* for any, or bank codes with commas', parseList),
  ).action(async (code: string, options: FieldOptions & RequiredFields) => {
    const { name: displayName, gateway, banks: supportedBanks } = options;
    const input = { ...readFieldOptions(options), code, gateway, displayName, supportedBanks };
    await perform(options, (operator) => createPaymentChannel(operator, input), paymentChannelTextWithKey);
  });

  addFieldOptions(
    addCommand(
      paymentChannel,
      'update <code>',
      'change what is given and leave the rest; holds at once on every node',
      [
        'update UNIPAY --name "Uni Pay Plus" --banks ICBC,CCB,ABC',
        'update UNIPAY --debits-per-second none --debit-hours none',
      ],
    )
      .option('--name <text>', 'name shown to end users')
      .option('--banks <codes>', '* for any, or bank codes with commas', parseList),
  ).action(async (code: string, options: FieldOptions) => {
    await perform(
      options,
      (operator) => updatePaymentChannel(operator, { code, ...readFieldOptions(options) }),
      (updated) =>
        updated.changed ? paymentChannelText(updated) : safeText`${paymentChannelText(updated)}\n\nIt was so already.`,
    );
  });

  addCommand(paymentChannel, 'reset-key <code>', 'a new key for its bridge; the old one stops working at once', [
    'reset-key UNIPAY',
  ]).action(async (code: string, options: JsonOption) => {
    await perform(options, (operator) => resetGatewayKey(operator, { code }), paymentChannelTextWithKey);
  });

  addCommand(paymentChannel, 'list', 'all payment channels', ['list', 'list --json']).action(
    async (options: JsonOption) => {
      await performList(options, listPaymentChannels, paymentChannelTable);
    },
  );
}

interface FieldOptions extends JsonOption {
  readonly name?: string;
  readonly banks?: readonly string[];
  readonly gatewayUrl?: string;
  readonly bankCodeRequired?: boolean;
  readonly debitsPerSecond?: OrNone<number>;
  readonly debitHours?: OrNone<{ readonly from: number; readonly to: number }>;
  readonly commonNumbers?: boolean;
}

interface RequiredFields {
  readonly name: string;
  readonly gateway: string;
  readonly banks: readonly string[];
}

function addFieldOptions(command: Command): Command {
  return command
    .option('--gateway-url <url>', 'address of the bridge gateway')
    .option('--bank-code-required', 'a binding must name the bank')
    .option('--no-bank-code-required', 'a binding need not name the bank (default)')
    .option('--debits-per-second <n>', 'pace of renewals, or none (default)', parseWholeNumberOrNone)
    .option(
      '--debit-hours <from-to>',
      'hours of the day, UTC+8, for renewals, such as 8-22, or none (default)',
      parseHours,
    )
    .option('--common-numbers', 'several channels may share the same agreement number')
    .option('--no-common-numbers', "an agreement number is one channel's alone (default)");
}

function readFieldOptions(options: FieldOptions): Partial<PaymentChannelFields> {
  const { name, banks, gatewayUrl, bankCodeRequired, debitsPerSecond, debitHours, commonNumbers } = options;
  return {
    ...(name === undefined ? {} : { displayName: name }),
    ...(banks === undefined ? {} : { supportedBanks: banks }),
    ...(gatewayUrl === undefined ? {} : { gatewayUrl }),
    ...(bankCodeRequired === undefined ? {} : { bankCodeRequired }),
    ...(debitsPerSecond === undefined ? {} : { debitsPerSecond: orNull(debitsPerSecond) }),
    ...(debitHours === undefined ? {} : { debitHours: orNull(debitHours) }),
    ...(commonNumbers === undefined ? {} : { commonNumbers }),
  };
}

function orNull<T>(value: OrNone<T>): T | null {
  return value === 'none' ? null : value;
}

function paymentChannelTable(paymentChannels: readonly PaymentChannelView[]): SafeText {
  return table(
    ['CODE', 'NAME', 'GATEWAY', 'BANKS', 'BANK CODE', 'DEBITS/S', 'HOURS', 'NUMBERS', 'CHANNELS'],
    paymentChannels.map((one) => [
      one.code,
      one.displayName,
      one.gateway,
      one.supportedBanks.join(', '),
      one.bankCodeRequired ? 'required' : 'optional',
      paceText(one),
      hoursText(one),
      one.commonNumbers ? 'common' : 'own',
      `${one.channels.length}`,
    ]),
  );
}

/** The key is shown only now; the sandbox gateway has none. */
function paymentChannelTextWithKey({ gatewayKey, ...one }: PaymentChannelView & OneTimeGatewayKey): SafeText {
  if (gatewayKey === undefined) return paymentChannelText(one);
  return safeText`${paymentChannelText(one)}\n\nKey of the bridge, shown this once:\n\n  ${gatewayKey}`;
}

function paymentChannelText(one: PaymentChannelView): SafeText {
  return record([
    ['Code', one.code],
    ['Name', one.displayName],
    ['Gateway', one.gatewayUrl === null ? one.gateway : `${one.gateway} at ${one.gatewayUrl}`],
    ['Banks', one.supportedBanks.join(', ')],
    ['Bank code', one.bankCodeRequired ? 'required' : 'optional'],
    ['Debits per second', paceText(one)],
    ['Debit hours', hoursText(one)],
    ['Shared numbers', one.commonNumbers ? 'common to channels' : 'of one channel each'],
    ['Channels', one.channels.join(', ') || 'none'],
    ['Created', one.createdAt],
  ]);
}

function paceText({ debitsPerSecond }: PaymentChannelView): string {
  return debitsPerSecond === null ? 'any' : `${debitsPerSecond}`;
}

function hoursText({ debitHours }: PaymentChannelView): string {
  return debitHours === null ? 'any' : `${debitHours.from}-${debitHours.to}`;
}
