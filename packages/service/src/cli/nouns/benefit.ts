import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { OperatorError } from '../../operator/operator.js';
import {
  type ImportedCodes,
  importCodes,
  listBenefits,
  setFulfilment,
  showBenefit,
} from '../../operator/provisioning/benefits.js';
import type { BenefitFulfilmentView } from '../../operator/provisioning/benefits-sql.js';
import { type CommandLine, type JsonOption, verb } from '../frame/command.js';
import { readKey } from '../frame/reference-program.js';
import { paragraphs, type Shown, shown } from '../frame/shown.js';
import { record, table } from '../frame/table.js';

export function addBenefit(program: Command, { perform, performList }: CommandLine): void {
  const benefit = program.command('benefit').description('where the codes of claimed benefits come from');

  verb(benefit, 'set-fulfilment <benefit-code>', 'where the codes come from, for claims from now on', [
    'set-fulfilment COUPON --kind pool',
    'set-fulfilment VIP_PASS --kind supplier --url https://supplier.example/codes --key-file supplier.key',
  ])
    .requiredOption('--kind <kind>', 'generated (made here, the default of every benefit), pool (imported) or supplier')
    .option('--url <url>', 'address of the supplier')
    .option('--key-file <file>', 'key shared with the supplier, 32 bytes in base64')
    .action(async (benefitCode: string, { kind, url, keyFile, ...options }: SetOptions) => {
      const key = keyFile === undefined ? undefined : await keyIn(keyFile);
      const input = {
        benefitCode,
        kind,
        ...(url === undefined ? {} : { supplierUrl: url }),
        ...(key === undefined ? {} : { supplierKey: key }),
      };
      await perform(
        options,
        (operator) => setFulfilment(operator, input),
        (set) => (set.changed ? describe(set) : shown`${describe(set)}\n\nIt was so already.`),
      );
    });

  verb(benefit, 'import-codes <benefit-code> <file>', 'add codes to the pool: one on each line, or a column code', [
    'import-codes COUPON codes.csv',
  ]).action(async (benefitCode: string, file: string, options: JsonOption) => {
    const input = { benefitCode, file: bytesOf(file) };
    await perform(options, (operator) => importCodes(operator, input), importText);
  });

  verb(benefit, 'list', 'all benefits', ['list', 'list --json']).action(async (options: JsonOption) => {
    await performList(options, listBenefits, listText);
  });

  verb(benefit, 'show <benefit-code>', 'one benefit with its codes and claims that wait', ['show COUPON']).action(
    async (benefitCode: string, options: JsonOption) => {
      await perform(options, (operator) => showBenefit(operator, { benefitCode }), describe);
    },
  );
}

interface SetOptions extends JsonOption {
  readonly kind: string;
  readonly url?: string;
  readonly keyFile?: string;
}

async function keyIn(file: string): Promise<Buffer> {
  const key = await readKey(file);
  if (key === undefined) throw new OperatorError(`there is no file ${file}`);
  return key;
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    throw new OperatorError(`the codes cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function importText({ imported, knownBefore, repeated, served, ...benefit }: ImportedCodes): Shown {
  const counts = record([
    ['Imported', `${imported}`],
    ['Imported before', `${knownBefore}`],
    ['Repeated in the file', `${repeated}`],
    ['Given to waiting claims', `${served}`],
  ]);
  const parts = [counts, describe(benefit)];
  if (benefit.kind !== 'POOL') parts.push(shown`${benefit.benefitCode} does not take its codes from the pool.`);
  return paragraphs(parts);
}

function listText(benefits: readonly BenefitFulfilmentView[]): Shown {
  return table(
    ['BENEFIT', 'KIND', 'SUPPLIER', 'PRODUCTS', 'CODES LEFT', 'GIVEN', 'WAITING'],
    benefits.map((one) => [
      one.benefitCode,
      one.kind,
      one.supplierUrl ?? '',
      one.products.join(', '),
      `${one.codesLeft}`,
      `${one.codesGiven}`,
      `${one.waitingClaims}`,
    ]),
  );
}

function describe(one: BenefitFulfilmentView): Shown {
  return record([
    ['Benefit', one.benefitCode],
    ['Kind', one.kind],
    ['Supplier', one.supplierUrl ?? 'none'],
    ['Products', one.products.join(', ') || 'none'],
    ['Codes left', `${one.codesLeft}`],
    ['Codes given', `${one.codesGiven}`],
    ['Claims waiting', one.waitingSince === null ? 'none' : `${one.waitingClaims}, since ${one.waitingSince}`],
  ]);
}
