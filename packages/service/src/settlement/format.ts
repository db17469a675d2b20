import { toVisibleJson as json } from '../platform/escape-invisible.js';
import type { SettlementLine } from './lines-sql.js';
import type { SettlementSummary } from './report.js';

export const REPORT_FORMATS = ['json', 'csv'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The text of a report in pieces: what comes before all lines, what a batch of them adds, what comes after. */
export interface ReportText {
  readonly begin: string;
  lines(lines: readonly SettlementLine[]): string;
  end(summary: SettlementSummary): string;
}

export function reportText(format: ReportFormat): ReportText {
  return format === 'json' ? jsonText() : CSV_TEXT;
}

/** One document. The sums come last because they are those of the lines. */
function jsonText(): ReportText {
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

const COLUMNS = [
  'kind',
  'time',
  'paymentOrderNo',
  'refundNo',
  'externalOrderNo',
  'productCode',
  'settlementMode',
  'cycleNo',
  'amountCent',
] as const;

const row = (fields: readonly string[]) => `${fields.join(',')}\r\n`;

/** RFC 4180. Lines and nothing else, so that a column can be summed. */
const CSV_TEXT: ReportText = {
  begin: row(COLUMNS),
  lines: (lines) => lines.map((line) => row(COLUMNS.map((column) => csvField(line[column])))).join(''),
  end: () => '',
};

/** What makes a spreadsheet take a text for a formula, also in full width. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** A number that a channel chose must not calculate on somebody's desk: an apostrophe before it makes it text again. */
export function csvField(value: string | number | null): string {
  const plain = String(value ?? '');
  const text = FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
