import type { FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { savePrivately, spool } from '../../../operations/command/files.js';
import { summaryText } from '../../../operations/texts/settlement-text.js';
import type { SettlementReportInput } from '../../../operator/books/settlement-reports.js';
import { OperatorError, type OperatorWithClock } from '../../../operator/operator.js';
import { requireOneOf } from '../../../operator/rules.js';
import { REPORT_FORMATS } from '../../../settlement/report-format.js';
import type { SettlementSummary } from '../../../settlement/settlement-report.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addSettlementReportCommand(settlement: Command, { operate, perform, stdout }: CommandLine): void {
  addCommand(settlement, 'report', 'a channel’s settlement of a month: all lines and the totals', [
    'report --channel test_demo --month 2026-01',
    'report --channel test_demo --month 2026-01 --format csv --output january.csv',
  ])
    .requiredOption('--channel <app-id>', 'app id of the channel')
    .requiredOption('--month <month>', 'a month of Asia/Shanghai, such as 2026-01')
    .option('--format <format>', 'json (default), csv, or spreadsheet: CSV for a spreadsheet program')
    .option('--output <file>', 'write the report to this file and print the totals (default: print the report)')
    .action(async ({ channel: appId, month, format: given = 'json', output, ...options }: ReportOptions) => {
      const format = requireOneOf('the format', given, REPORT_FORMATS);
      const input = { appId, month, format };
      if (output === undefined && options.json && format !== 'json') {
        throw new OperatorError(
          `--json and --format ${format} contradict each other: give only one of them, or add --output`,
        );
      }
      if (output === undefined && format !== 'json' && stdout.isTTY) {
        // A CSV report contains the channels' texts unescaped, and they could control a terminal. A JSON report escapes
        // them.
        throw new OperatorError('a CSV report cannot be printed to a terminal: give --output, or pipe it to a program');
      }
      if (output === undefined) return operate(options, (operator) => printReport(operator, input, stdout));
      const save = (operator: OperatorWithClock) =>
        savePrivately(output, 'the report', (file) => writeReport(operator, input, file));
      await perform(options, save, summaryText);
    });
}

interface ReportOptions extends JsonOption {
  readonly channel: string;
  readonly month: string;
  readonly format?: string;
  readonly output?: string;
}

async function printReport(operator: OperatorWithClock, input: SettlementReportInput, stdout: Writable): Promise<void> {
  const { writeSettlementReport } = await loadReports();
  const pieces = await spool((write) => writeSettlementReport(operator, input, write));
  await pipeline(pieces, stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early. That is not a failure.
    if (error.code !== 'EPIPE') throw error;
  });
}

async function writeReport(
  operator: OperatorWithClock,
  input: SettlementReportInput,
  file: FileHandle,
): Promise<SettlementSummary> {
  const { writeSettlementReport } = await loadReports();
  return writeSettlementReport(operator, input, (text) => file.appendFile(text));
}

/** Loaded lazily, because this module loads all schemas of the API. */
const loadReports = () => import('../../../operator/books/settlement-reports.js');
