import type { PeriodType } from '@perennial/wire';
import type { Command } from 'commander';
import type { ProductBenefitView, ProductView } from '../../../catalog/products/product-provisioning-sql.js';
import {
  createProduct,
  createProductVersion,
  listProducts,
  showProduct,
} from '../../../operator/provisioning/products.js';
import { DEFAULT_RETRY_DELAYS } from '../../../subscriptions/domain/payments/debit-policy.js';
import { addCommand, type CommandLine, type JsonOption, type MoneyText } from '../../frame/command.js';
import { appendBenefit, appendList, formatDuration, parseDurations, parseWholeNumber } from '../../frame/options.js';
import type { SafeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

const defaultRetries = (periodType: PeriodType) =>
  `${DEFAULT_RETRY_DELAYS[periodType].map(formatDuration).join(',')} for ${periodType}`;

export function addProductCommands(program: Command, { perform, performList }: CommandLine): void {
  const product = program.command('product').description('what is sold: cycle, price, settlement modes, benefits');

  addCommand(product, 'create <product-code>', 'make a product; it never changes afterwards', [
    'create VIP_MONTHLY --name "VIP, monthly" --mode SVC_DEDUCT --period-type MONTH --cycles 12 \\\n' +
      '      --amount-cent 1990 --benefit "VIP_PASS:1500:VIP pass" --benefit COUPON:490',
    'create DAY_7 --name "Seven days" --mode CHANNEL_COLLECT --period-type DAY --cycles 7 --amount-cent 100',
  ])
    .requiredOption('--name <text>', 'name of the product')
    .requiredOption(
      '--mode <mode>',
      'SVC_DEDUCT or CHANNEL_COLLECT; in the sandbox also both, with a comma',
      appendList,
    )
    .requiredOption('--period-type <type>', 'DAY or MONTH (calendar months)')
    .option('--period <n>', 'days or months in one period (default: 1)', parseWholeNumber)
    .requiredOption('--cycles <n>', 'number of periods, at most 9999', parseWholeNumber)
    .requiredOption('--amount-cent <n>', 'price of one period, in cents', parseWholeNumber)
    .option('--benefit <code:cents[:name]>', 'a benefit of every period; may be repeated', appendBenefit)
    .option(
      '--retry <delays>',
      `when a failed debit is tried again, or none (default: ${defaultRetries('DAY')}, ${defaultRetries('MONTH')})`,
      parseDurations,
    )
    .action(async (productCode: string, options: CreateOptions) => {
      const input = {
        productCode,
        productName: options.name,
        settlementModes: options.mode,
        periodType: options.periodType,
        period: options.period ?? 1,
        totalCycles: options.cycles,
        amountCent: options.amountCent,
        benefits: options.benefit ?? [],
        ...(options.retry === undefined ? {} : { retryDelays: options.retry }),
      };
      await perform(options, (operator) => createProduct(operator, input), productText);
    });

  addCommand(
    product,
    'create-version <product-code>',
    'make a later version of a product, under a code of its own; running orders stay with theirs',
    ['create-version VIP_MONTHLY --amount-cent 2190', 'create-version VIP_MONTHLY --amount-cent 2190 --replace'],
  )
    .option('--code <code>', 'its code (default: that of the first version with _V2 and so on)')
    .option('--name <text>', 'its name (default: as before)')
    .option('--amount-cent <n>', 'price of one period, in cents (default: as before)', parseWholeNumber)
    .option('--cycles <n>', 'number of periods, at most 9999 (default: as before)', parseWholeNumber)
    .option(
      '--benefit <code:cents[:name]>',
      'a benefit of every period; may be repeated (default: as before)',
      appendBenefit,
    )
    .option('--retry <delays>', 'when a failed debit is tried again, or none (default: as before)', parseDurations)
    .option('--replace', 'let the channels that sell the version before sell this one in its place')
    .action(async (formerCode: string, options: VersionOptions) => {
      const { code, name, amountCent, cycles, benefit, retry, replace } = options;
      const input = {
        formerCode,
        ...(code === undefined ? {} : { productCode: code }),
        ...(name === undefined ? {} : { productName: name }),
        ...(amountCent === undefined ? {} : { amountCent }),
        ...(cycles === undefined ? {} : { totalCycles: cycles }),
        ...(benefit === undefined ? {} : { benefits: benefit }),
        ...(retry === undefined ? {} : { retryDelays: retry }),
        ...(replace === undefined ? {} : { replacesForChannels: replace }),
      };
      await perform(options, (operator) => createProductVersion(operator, input), productText);
    });

  addCommand(product, 'list', 'all products', ['list', 'list --json']).action(async (options: JsonOption) => {
    await performList(options, listProducts, productTable);
  });

  addCommand(product, 'show <product-code>', 'one product', ['show TEST_SPU_001']).action(
    async (productCode: string, options: JsonOption) => {
      await perform(options, (operator) => showProduct(operator, { productCode }), productText);
    },
  );
}

interface VersionOptions extends JsonOption {
  readonly code?: string;
  readonly name?: string;
  readonly amountCent?: number;
  readonly cycles?: number;
  readonly benefit?: readonly ProductBenefitView[];
  readonly retry?: readonly number[];
  readonly replace?: boolean;
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly mode: readonly string[];
  readonly periodType: string;
  readonly period?: number;
  readonly cycles: number;
  readonly amountCent: number;
  readonly benefit?: readonly ProductBenefitView[];
  readonly retry?: readonly number[];
}

function productTable(products: readonly ProductView[], money: MoneyText): SafeText {
  return table(
    ['CODE', 'NAME', 'MODES', 'CYCLE', 'AMOUNT', 'BENEFITS', 'CHANNELS'],
    products.map((product) => [
      product.productCode,
      product.productName,
      product.settlementModes.join(', '),
      cycleText(product),
      money(product.amountCent),
      product.benefits.map(({ benefitCode }) => benefitCode).join(', '),
      `${product.channels.length}`,
    ]),
  );
}

function productText(product: ProductView, money: MoneyText): SafeText {
  const benefits = product.benefits.map(
    ({ benefitCode, name, faceValueCent }) => `${benefitCode} ${money(faceValueCent)} (${name})`,
  );
  return record([
    ['Code', product.productCode],
    ['Name', product.productName],
    ...(product.versionOf === null ? [] : [versionRow(product.version, product.versionOf)]),
    ['Settlement modes', product.settlementModes.join(', ')],
    ['Cycle', cycleText(product)],
    ['Amount', `${money(product.amountCent)} per period`],
    ...(benefits.length === 0 ? ['none'] : benefits).map((line): [string, string] => ['Benefit', line]),
    ['Retries after', product.retryDelays.map(formatDuration).join(', ') || 'none'],
    ['Channels', product.channels.join(', ') || 'none'],
    ['Created', product.createdAt],
  ]);
}

function versionRow(version: number, versionOf: string): [string, string] {
  return ['Version', `${version} of ${versionOf}`];
}

function cycleText({ period, periodType, totalCycles }: ProductView): string {
  return `${totalCycles} x ${period} ${periodType}`;
}
