import { createReadStream } from 'node:fs';
import { Argument, type Command } from 'commander';
import { OperatorError } from '../../../operator/operator.js';
import {
  type ImportedCodes,
  importCodes,
  listBenefits,
  setFulfilment,
  setLowStock,
  showBenefit,
} from '../../../operator/provisioning/benefits.js';
import type { BenefitFulfilmentView } from '../../../operator/provisioning/benefits-sql.js';
import { type ChangedPresentation, setPresentation } from '../../../operator/provisioning/presentations.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { readKeyFile } from '../../frame/key-file.js';
import { type OrNone, parseWholeNumberOrNone } from '../../frame/options.js';
import { readPictureOption, toGiven, toLeftOutText, toUnchangedText } from '../../frame/picture-option.js';
import { paragraphs, type SafeText, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';
import { presentationRows } from './branding-text.js';

export function addBenefitCommands(program: Command, { perform, performList }: CommandLine): void {
  const benefit = program.command('benefit').description('where the codes of claimed benefits come from');

  addCommand(benefit, 'set-fulfilment <benefit-code>', 'where the codes come from, for claims from now on', [
    'set-fulfilment COUPON --kind pool',
    'set-fulfilment VIP_PASS --kind supplier --url https://supplier.example/codes --key-file supplier.key',
  ])
    .requiredOption('--kind <kind>', 'generated (made here, the default of every benefit), pool (imported) or supplier')
    .option('--url <url>', 'address of the supplier')
    .option('--key-file <file>', 'key shared with the supplier, 32 bytes in base64')
    .action(async (benefitCode: string, { kind, url, keyFile, ...options }: SetOptions) => {
      const key = keyFile === undefined ? undefined : await requireKeyFile(keyFile);
      const input = {
        benefitCode,
        kind,
        ...(url === undefined ? {} : { supplierUrl: url }),
        ...(key === undefined ? {} : { supplierKey: key }),
      };
      await perform(
        options,
        (operator) => setFulfilment(operator, input),
        (set) => (set.changed ? benefitText(set) : safeText`${benefitText(set)}\n\nIt was so already.`),
      );
    });

  addCommand(
    benefit,
    'import-codes <benefit-code> <file>',
    'add codes to the pool: one on each line, or a column code',
    ['import-codes COUPON codes.csv'],
  ).action(async (benefitCode: string, file: string, options: JsonOption) => {
    const input = { benefitCode, file: readCodeFile(file) };
    await perform(options, (operator) => importCodes(operator, input), importText);
  });

  addCommand(benefit, 'set-low-stock <benefit-code>', 'raise an alert when fewer codes are left in the pool', [
    'set-low-stock COUPON 500',
    'set-low-stock COUPON none',
  ])
    .addArgument(new Argument('<codes>', 'how many, or none').argParser(parseWholeNumberOrNone))
    .action(async (benefitCode: string, codes: OrNone<number>, options: JsonOption) => {
      const input = { benefitCode, lowStock: codes === 'none' ? null : codes };
      await perform(
        options,
        (operator) => setLowStock(operator, input),
        ({ lowStock }) => `low stock of ${benefitCode}: ${lowStockText(lowStock)}`,
      );
    });

  addCommand(benefit, 'set-presentation <benefit-code>', 'what users see of it beside its name; none removes a part', [
    'set-presentation VIP_PASS --icon pass.svg --zh 全场通用 --en "For everything in the shop"',
    'set-presentation VIP_PASS --use-url https://shop.example/redeem',
    'set-presentation VIP_PASS --icon none',
  ])
    .option('--icon <file>', 'SVG or PNG of at most 64 KiB, or none')
    .option('--zh <text>', 'description in Chinese, at most 120 characters, or none')
    .option('--en <text>', 'description in English, at most 120 characters, or none')
    .option('--use-url <url>', 'address where its code is used, or none')
    .action(async (benefitCode: string, { icon, zh, en, useUrl, ...options }: PresentationOptions) => {
      const input = {
        benefitCode,
        ...toGiven('icon', await readPictureOption(icon)),
        ...toGiven('descriptionZh', zh),
        ...toGiven('descriptionEn', en),
        ...toGiven('useUrl', useUrl),
      };
      await perform(options, (operator) => setPresentation(operator, input), presentationText);
    });

  addCommand(benefit, 'list', 'all benefits', ['list', 'list --json']).action(async (options: JsonOption) => {
    await performList(options, listBenefits, benefitTable);
  });

  addCommand(benefit, 'show <benefit-code>', 'one benefit with its codes and claims that wait', ['show COUPON']).action(
    async (benefitCode: string, options: JsonOption) => {
      await perform(options, (operator) => showBenefit(operator, { benefitCode }), benefitText);
    },
  );
}

interface SetOptions extends JsonOption {
  readonly kind: string;
  readonly url?: string;
  readonly keyFile?: string;
}

interface PresentationOptions extends JsonOption {
  readonly icon?: string;
  readonly zh?: string;
  readonly en?: string;
  readonly useUrl?: string;
}

async function requireKeyFile(file: string): Promise<Buffer> {
  const key = await readKeyFile(file);
  if (key === undefined) throw new OperatorError(`there is no file ${file}`);
  return key;
}

async function* readCodeFile(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    throw new OperatorError(`the codes cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function importText({ imported, knownBefore, repeated, served, ...benefit }: ImportedCodes): SafeText {
  const counts = record([
    ['Imported', `${imported}`],
    ['Imported before', `${knownBefore}`],
    ['Repeated in the file', `${repeated}`],
    ['Given to waiting claims', `${served}`],
  ]);
  const parts = [counts, benefitText(benefit)];
  if (benefit.kind !== 'POOL') parts.push(safeText`${benefit.benefitCode} does not take its codes from the pool.`);
  return paragraphs(parts);
}

function benefitTable(benefits: readonly BenefitFulfilmentView[]): SafeText {
  return table(
    ['BENEFIT', 'KIND', 'SUPPLIER', 'PRODUCTS', 'CODES LEFT', 'GIVEN', 'WAITING', 'PRESENTED BY'],
    benefits.map((one) => [
      one.benefitCode,
      one.kind,
      one.supplierUrl ?? '',
      one.products.join(', '),
      `${one.codesLeft}`,
      `${one.codesGiven}`,
      `${one.waitingClaims}`,
      presentedBy(one),
    ]),
  );
}

/** Which parts of its presentation are set. */
function presentedBy({ presentation: { icon, descriptionZh, descriptionEn, useUrl } }: BenefitFulfilmentView): string {
  const parts = { icon, zh: descriptionZh, en: descriptionEn, link: useUrl };
  return Object.entries(parts)
    .flatMap(([name, value]) => (value === null ? [] : [name]))
    .join(', ');
}

function presentationText({ changed, leftOut, ...benefit }: ChangedPresentation): SafeText {
  return paragraphs([benefitText(benefit), ...toLeftOutText('icon', leftOut), ...toUnchangedText(changed)]);
}

function lowStockText(lowStock: number | null): string {
  return lowStock === null ? 'no alert' : `an alert when fewer than ${lowStock} codes are left`;
}

function lowStockRow(lowStock: number): [string, string] {
  return ['Low stock', lowStockText(lowStock)];
}

function benefitText(one: BenefitFulfilmentView): SafeText {
  return record([
    ['Benefit', one.benefitCode],
    ['Kind', one.kind],
    ['Supplier', one.supplierUrl ?? 'none'],
    ['Products', one.products.join(', ') || 'none'],
    ['Codes left', `${one.codesLeft}`],
    ['Codes given', `${one.codesGiven}`],
    ...(one.lowStock === null ? [] : [lowStockRow(one.lowStock)]),
    ['Claims waiting', one.waitingSince === null ? 'none' : `${one.waitingClaims}, since ${one.waitingSince}`],
    ...presentationRows(one.presentation),
  ]);
}
