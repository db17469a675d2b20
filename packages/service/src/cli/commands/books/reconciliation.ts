import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { OperatorError } from '../../../operator/operator.js';
import type { DifferenceView } from '../../../reconciliation/differences-sql.js';
import type { ReconciliationView } from '../../../reconciliation/reconciliation-runs-sql.js';
import { addCommand, type CommandLine, type JsonOption, type MoneyText } from '../../frame/command.js';
import { parseWholeNumber } from '../../frame/options.js';
import type { SafeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

/** Loaded by the command: with it come the schemas of the interface, which take long to load. */
const loadActions = () => import('../../../operator/books/reconciliation.js');

export function addReconciliationCommands(program: Command, { perform, performList }: CommandLine): void {
  const reconciliation = program
    .command('reconciliation')
    .description('institutions’ statements of a day against what is known here');

  addCommand(reconciliation, 'run', 'compare a day’s statement, of the bridge or a file; may be repeated', [
    'run --payment-channel UNIPAY --day 2026-01-31',
    'run --payment-channel UNIPAY --day 2026-01-31 --csv statement.csv',
  ])
    .requiredOption('--payment-channel <code>', 'whose statement it is')
    .requiredOption('--day <day>', 'a day of Asia/Shanghai that is over, such as 2026-01-31')
    .option('--csv <file>', 'the statement as a file (default: the bridge is asked for it)')
    .action(async ({ paymentChannel, day, csv, ...options }: RunOptions) => {
      await perform(
        options,
        async (operator) =>
          (await loadActions()).runReconciliation(operator, {
            paymentChannelCode: paymentChannel,
            day,
            ...(csv === undefined ? {} : { csv: readStatementFile(csv) }),
          }),
        reconciliationText,
      );
    });

  addCommand(reconciliation, 'list', 'days that were compared, the latest first', [
    'list',
    'list --payment-channel UNIPAY',
  ])
    .option('--payment-channel <code>', 'only of this one')
    .option('--limit <n>', 'at most this many, 1 to 1000 (default: 50)', parseWholeNumber)
    .action(async ({ paymentChannel, limit, ...options }: ListOptions) => {
      const input = pickFilter(paymentChannel, limit);
      await performList(
        options,
        async (operator) => (await loadActions()).listReconciliations(operator, input),
        dayTable,
      );
    });

  addCommand(reconciliation, 'differences', 'what does not agree and nobody has closed, the latest day first', [
    'differences',
    'differences --payment-channel UNIPAY --day 2026-01-31 --all --json',
  ])
    .option('--all', 'those that are closed too')
    .option('--payment-channel <code>', 'only of this one')
    .option('--day <day>', 'only of this day, such as 2026-01-31')
    .option('--limit <n>', 'at most this many, 1 to 10000 (default: 100)', parseWholeNumber)
    .action(async ({ paymentChannel, limit, all, day, ...options }: DifferencesOptions) => {
      const input = {
        ...pickFilter(paymentChannel, limit),
        ...(all === undefined ? {} : { all }),
        ...(day === undefined ? {} : { day }),
      };
      await performList(
        options,
        async (operator) => (await loadActions()).listDifferences(operator, input),
        differenceTable,
      );
    });

  addCommand(reconciliation, 'close <difference-no>', 'say that a difference is dealt with, and how', [
    'close 17 --note "refunded at the counter, ticket 4711"',
  ])
    .requiredOption('--note <text>', 'what was found out, and what was done')
    .action(async (differenceNo: string, { note, ...options }: JsonOption & { readonly note: string }) => {
      await perform(
        options,
        async (operator) => (await loadActions()).closeDifference(operator, { differenceNo, note }),
        ({ changed, closedBy }) =>
          changed
            ? `difference ${differenceNo} is closed`
            : `difference ${differenceNo} was closed already, by ${closedBy}`,
      );
    });
}

interface RunOptions extends JsonOption {
  readonly paymentChannel: string;
  readonly day: string;
  readonly csv?: string;
}

interface ListOptions extends JsonOption {
  readonly paymentChannel?: string;
  readonly limit?: number;
}

interface DifferencesOptions extends ListOptions {
  readonly all?: boolean;
  readonly day?: string;
}

function pickFilter(paymentChannelCode: string | undefined, limit: number | undefined) {
  return {
    ...(paymentChannelCode === undefined ? {} : { paymentChannelCode }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Opened when it is read, so that a missing file is reported like any other error. */
async function* readStatementFile(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    throw new OperatorError(`the statement cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function reconciliationText(one: ReconciliationView): SafeText {
  return record([
    ['Payment channel', one.paymentChannelCode],
    ['Day', one.day],
    ['Statement', `${one.lines} lines, from ${one.source === 'FILE' ? 'a file' : 'the bridge'}`],
    ['Differences', `${one.differences}`],
    ['Open', one.open === 0 ? 'none' : `${one.open}; see perennial reconciliation differences`],
  ]);
}

function dayTable(days: readonly ReconciliationView[]): SafeText {
  return table(
    ['DAY', 'PAYMENT CHANNEL', 'LINES', 'DIFFERENCES', 'OPEN', 'FROM', 'RUN BY', 'RUN AT'],
    days.map((one) => [
      one.day,
      one.paymentChannelCode,
      `${one.lines}`,
      `${one.differences}`,
      `${one.open}`,
      one.source,
      one.runBy,
      one.runAt,
    ]),
  );
}

function differenceTable(differences: readonly DifferenceView[], money: MoneyText): SafeText {
  return table(
    ['NO', 'DAY', 'PAYMENT CHANNEL', 'KIND', 'LINE', 'NUMBER', 'HERE', 'THERE', 'FIRST SEEN', 'CLOSED'],
    differences.map((one) => [
      one.differenceNo,
      one.day,
      one.paymentChannelCode,
      one.kind,
      one.lineKind,
      one.number,
      sideText(one.hereStatus, one.hereAmountCent, money),
      sideText(one.thereStatus, one.thereAmountCent, money),
      one.firstSeenAt,
      one.closedAt === null ? '' : `${one.closedBy}: ${one.closingNote}`,
    ]),
  );
}

function sideText(status: string | null, amountCent: number | null, money: MoneyText): string {
  return amountCent === null ? 'nothing' : `${status} ${money(amountCent)}`;
}
