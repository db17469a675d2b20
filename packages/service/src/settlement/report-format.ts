import { BYTE_ORDER_MARK, createCsvTable, csvLine, spreadsheetLine } from '../platform/csv/csv-field.js';
import { toVisibleJson as json } from '../platform/escape-invisible.js';
import type { SettlementLine } from './settlement-lines-sql.js';
import type { SettlementSummary } from './settlement-report.js';

/** `spreadsheet` is CSV for a file that operators open in a spreadsheet program. */
export const REPORT_FORMATS = ['json', 'csv', 'spreadsheet'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The text of a report in pieces: before all lines, for each batch of lines, and after them. */
export interface ReportText {
  readonly begin: string;
  lines(lines: readonly SettlementLine[]): string;
  end(summary: SettlementSummary): string;
}

export function createReportText(format: ReportFormat, currency: string): ReportText {
  if (format === 'json') return createJsonReportText();
  return format === 'csv' ? createCsvReportText(currency, csvLine) : createSpreadsheetReportText(currency);
}

/** One JSON document. The sums come last because they are computed from the lines. */
function createJsonReportText(): ReportText {
  let first = true;
  return {
    begin: '{"lines":[',
    lines(lines) {
      const text = lines.map((line) => `\n${json(line)}`).join(',');
      const comma = first ? '' : ',';
      first = false;
      return comma + text;
    },
    end: (summary) => `\n],${json(summary).slice(1)}\n`,
  };
}

const CSV_COLUMNS = [
  'kind',
  'time',
  'paymentOrderNo',
  'refundNo',
  'externalOrderNo',
  'productCode',
  'settlementMode',
  'cycleNo',
  'amountCent',
  'currency',
] as const;

/** CSV as in RFC 4180. Contains only lines and no sums, so that users can sum a column. */
function createCsvReportText(currency: string, toLine: typeof csvLine): ReportText {
  const { header, toRow } = createCsvTable(CSV_COLUMNS, toLine);
  return { begin: header, lines: (lines) => lines.map((line) => toRow({ ...line, currency })).join(''), end: () => '' };
}

function createSpreadsheetReportText(currency: string): ReportText {
  const text = createCsvReportText(currency, spreadsheetLine);
  return { ...text, begin: BYTE_ORDER_MARK + text.begin };
}
