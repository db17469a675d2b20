import { createReadStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { MonthInList, SettlementMonth } from '../../../operator/books/settlement-months.js';
import type { SettlementReportInput } from '../../../operator/books/settlement-reports.js';
import { OperatorError, type OperatorWithClock } from '../../../operator/operator.js';
import { requireOneOf } from '../../../operator/rules.js';
import { REPORT_FORMATS } from '../../../settlement/report-format.js';
import type { SettlementSummary } from '../../../settlement/settlement-report.js';
import { areZero, type Sums } from '../../../settlement/sums.js';
import { addCommand, type CommandLine, type JsonOption, type MoneyText } from '../../frame/command.js';
import { paragraphs, type SafeText, safeText } from '../../frame/safe-text.js';
import { table } from '../../frame/table.js';

export function addSettlementCommands(program: Command, { operate, perform, performList, stdout }: CommandLine): void {
  const settlement = program.command('settlement').description('what was collected, refunded and billed');

  addCommand(settlement, 'report', 'a channel’s month, line by line and in sums', [
    'report --channel test_demo --month 2026-01',
    'report --channel test_demo --month 2026-01 --format csv --output january.csv',
  ])
    .requiredOption('--channel <app-id>', 'whose')
    .requiredOption('--month <month>', 'a month of Asia/Shanghai, such as 2026-01')
    .option('--format <format>', 'json (default) or csv')
    .option('--output <file>', 'write the report there and show the sums (default: print the report)')
    .action(async ({ channel: appId, month, format: given = 'json', output, ...options }: ReportOptions) => {
      const format = requireOneOf('the format', given, REPORT_FORMATS);
      const input = { appId, month, format };
      if (output === undefined && options.json && format === 'csv') {
        throw new OperatorError('--json and --format csv say two things: give one of them, or --output');
      }
      if (output === undefined && format === 'csv' && stdout.isTTY) {
        // Byte for byte what channels wrote, which a terminal may obey; JSON has escapes for that.
        throw new OperatorError('a CSV report is not for a terminal: give --output, or send it on to a program');
      }
      if (output === undefined) return operate(options, (operator) => printReport(operator, input, stdout));
      await perform(options, (operator) => saveReport(operator, input, path.resolve(output)), summaryText);
    });

  addCommand(settlement, 'months', 'the months and whether they are closed, the latest first', ['months']).action(
    async (options: JsonOption) => {
      await performList(options, async (operator) => (await loadMonths()).listSettlementMonths(operator), monthTable);
    },
  );

  addCommand(settlement, 'month <month>', 'all channels of a month; of a closed one as it was then', [
    'month 2026-01',
  ]).action(async (month: string, options: JsonOption) => {
    await perform(
      options,
      async (operator) => (await loadMonths()).showSettlementMonth(operator, { month }),
      settlementMonthText,
    );
  });

  addCommand(settlement, 'close <month>', 'freeze a month’s figures; the earliest open month first', [
    'close 2026-01',
    'close 2026-01 --note "agreed with the partners, ticket 4711"',
  ])
    .option('--note <text>', 'what was agreed')
    .action(async (month: string, { note, ...options }: JsonOption & { readonly note?: string }) => {
      await perform(
        options,
        async (operator) => (await loadMonths()).closeSettlementMonth(operator, { month, note }),
        settlementMonthText,
      );
    });
}

/** Loaded by the command: the interface's schemas come with it. */
const loadMonths = () => import('../../../operator/books/settlement-months.js');

function monthTable(months: readonly MonthInList[]): SafeText {
  // The latest is first. The month that runs is not over.
  const next = months.slice(1).findLast(({ status }) => status === 'OPEN');
  return table(
    ['MONTH', 'STATUS', 'CLOSED BY', 'CLOSED AT'],
    months.map((one) => [
      one.month,
      one === next ? 'OPEN, next to close' : one.status,
      one.closedBy ?? '',
      one.closedAt ?? '',
    ]),
  );
}

function settlementMonthText(one: SettlementMonth, money: MoneyText): SafeText {
  const rows = one.channels.map((channel) => [
    channel.appId,
    ...sumCells(channel, money),
    channel.laterCent === 0 ? '-' : money(channel.laterCent),
  ]);
  const later = one.laterCent === 0 ? '-' : money(one.laterCent);
  return paragraphs([
    safeText`${one.month}${stateText(one)}`,
    table(
      ['CHANNEL', 'COLLECTED', 'REFUNDED', 'BILLED', 'OF EARLIER MONTHS'],
      [...rows, ['Total', ...sumCells(one.totals, money), later]],
    ),
    ...unsettledText(one.unsettled, one.status),
  ]);
}

function stateText({
  status,
  monthIsOver,
  closedBy,
  closedAt,
}: Pick<SettlementMonth, 'status' | 'monthIsOver' | 'closedBy' | 'closedAt'>): string {
  if (status === 'CLOSED') return `, closed by ${closedBy} at ${closedAt}`;
  return monthIsOver ? '' : ' (not over yet)';
}

function unsettledText(open: number, status: 'OPEN' | 'CLOSED'): SafeText[] {
  if (open === 0) return [];
  if (status === 'CLOSED')
    return [
      safeText`${open} debits or refunds had no result when the month was closed: those that succeed count in a later month.`,
    ];
  return [
    safeText`${open} debits or refunds that began before the end of the month have no result yet: the month may still change.`,
  ];
}

interface ReportOptions extends JsonOption {
  readonly channel: string;
  readonly month: string;
  readonly format?: string;
  readonly output?: string;
}

/** To a file first: the reader of stdout may be slow, and of a report that fails nothing is printed. */
async function printReport(operator: OperatorWithClock, input: SettlementReportInput, stdout: Writable): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-report-'));
  try {
    const file = path.join(folder, 'report');
    await writeReport(operator, input, file);
    await pipeline(createReadStream(file), stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
      // `| head` closes the pipe early, which is no failure.
      if (error.code !== 'EPIPE') throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * To another name first, so that a file of the name is always a complete report, or what it was before. It is a new file that
 * only the present user may read, whatever the mode of the old one was.
 */
async function saveReport(
  operator: OperatorWithClock,
  input: SettlementReportInput,
  file: string,
): Promise<SettlementSummary> {
  if ((await stat(file).catch(() => undefined))?.isFile() === false) {
    throw new OperatorError(`the report cannot be written: ${file} is not a file`);
  }
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    const summary = await writeReport(operator, input, unfinished);
    await rename(unfinished, file);
    return summary;
  } catch (error) {
    await rm(unfinished, { force: true });
    const failed = error instanceof Error && 'syscall' in error ? error.message : undefined;
    throw failed === undefined ? error : new OperatorError(`the report cannot be written: ${failed}`);
  }
}

async function writeReport(
  operator: OperatorWithClock,
  input: SettlementReportInput,
  file: string,
): Promise<SettlementSummary> {
  const handle = await open(file, 'wx', 0o600);
  try {
    // Loaded here: the interface's schemas come with it.
    const { writeSettlementReport } = await import('../../../operator/books/settlement-reports.js');
    const summary = await writeSettlementReport(operator, input, (text) => handle.appendFile(text));
    await handle.sync();
    return summary;
  } finally {
    await handle.close();
  }
}

function summaryText(summary: SettlementSummary, money: MoneyText): SafeText {
  const { appId, month, status, unsettled, products, totals, later, sinceClosed } = summary;
  const rows = products.map((one) => [one.productCode, one.settlementMode, ...sumCells(one, money)]);
  const more = (name: string, sums: Sums) => (areZero(sums) ? [] : [[name, '', ...sumCells(sums, money)]]);
  const sums = table(
    ['PRODUCT', 'MODE', 'COLLECTED', 'REFUNDED', 'BILLED'],
    [
      ...rows,
      ['Total', '', ...sumCells(totals, money)],
      ...more('Of earlier months', later),
      ...more('Since', sinceClosed),
    ],
  );
  return paragraphs([
    safeText`${appId}, ${month}${stateText(summary)}`,
    sums,
    ...(status === 'CLOSED' ? [] : unsettledText(unsettled.debits + unsettled.refunds, status)),
  ]);
}

function sumCells(sums: Sums, money: MoneyText): string[] {
  const cell = (cents: number, count: number) => (count === 0 && cents === 0 ? '-' : `${money(cents)} (${count})`);
  return [
    cell(sums.collectedCent, sums.collectedCount),
    cell(sums.refundedCent, sums.refundedCount),
    cell(sums.billedCent, sums.billedCount),
  ];
}
