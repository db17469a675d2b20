import { parseTime } from '@perennial/wire';
import { numberOf, positiveOf } from '@perennial/wire/bridge';
import type { StatementLine } from '../gateways/gateway.js';
import { readCsvRecords, refuseLine, StatementRefused } from '../platform/csv/csv.js';
import { createRefusal } from '../platform/plain-error.js';
import type { NumberedLine } from './statement.js';

const STATEMENT_COLUMNS = ['kind', 'number', 'amountCent', 'status', 'bookedAt', 'institutionRef'] as const;
const HEADER = STATEMENT_COLUMNS.join(',');

const KINDS: ReadonlyMap<string, StatementLine['kind']> = new Map([
  ['DEBIT', 'debit'],
  ['REFUND', 'refund'],
]);
const STATUSES: readonly StatementLine['status'][] = ['SUCCESS', 'FAIL', 'PENDING'];

/** Reads a statement in the file format of docs/reconciliation.md. Stops at the first error. */
export async function* readStatementFromCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine> {
  let headerRead = false;
  for await (const { line: at, fields } of readCsvRecords(bytes)) {
    if (headerRead) {
      yield { at, line: readLine(at, fields) };
    } else if (fields.join(',') === HEADER) {
      headerRead = true;
    } else {
      throw refuseLine(at, `it must be ${HEADER}`);
    }
  }
  if (!headerRead) throw createRefusal(StatementRefused, 'statement-empty')`the statement is empty`;
}

function readLine(at: number, fields: readonly string[]): StatementLine {
  if (fields.length !== STATEMENT_COLUMNS.length) {
    throw refuseLine(at, `it has ${fields.length} fields instead of ${STATEMENT_COLUMNS.length}`);
  }
  const [kind = '', number, amountCent = '', status, bookedAt = '', institutionRef] = fields;
  const requireField = <T>(value: T | undefined, name: (typeof STATEMENT_COLUMNS)[number], form: string): T => {
    if (value === undefined) throw refuseLine(at, `${name} must be ${form}`);
    return value;
  };
  if (number !== undefined && (isScientific(number) || isCutNumber(number))) throw refuseChanged(at, 'number', number);
  if (institutionRef !== undefined && isScientific(institutionRef)) {
    throw refuseChanged(at, 'institutionRef', institutionRef);
  }
  return {
    kind: requireField(KINDS.get(kind), 'kind', 'DEBIT or REFUND'),
    number: requireField(numberOf(number), 'number', '1 to 64 visible ASCII characters'),
    amountCent: requireField(parseCents(amountCent), 'amountCent', 'a whole number of cents from 1'),
    status: requireField(
      STATUSES.find((one) => one === status),
      'status',
      'SUCCESS, FAIL or PENDING',
    ),
    bookedAt: requireField(parseTime(bookedAt), 'bookedAt', 'a time such as 2026-01-31 12:00:00'),
    institutionRef: requireField(numberOf(institutionRef), 'institutionRef', '1 to 64 visible ASCII characters'),
  };
}

const refuseChanged = (at: number, name: (typeof STATEMENT_COLUMNS)[number], text: string): StatementRefused =>
  createRefusal(
    StatementRefused,
    'statement-number-changed',
  )`line ${at} of the statement: ${name} is ${text}: a spreadsheet has changed it. Export the statement again, and compare that file without saving it in a spreadsheet`;

/** Returns true if a spreadsheet has saved a long number in a form like 1.00000E+17. */
const isScientific = (text: string): boolean => /^\d([.,]\d+)?E[+-]\d+$/i.test(text);

/**
 * Returns true if a spreadsheet has replaced all digits after the 15th by zeros. Applies only to the service's own
 * numbers: an attemptNo has 18 digits or more and never ends in 00, but an institution's reference may.
 */
const isCutNumber = (text: string): boolean => /^[1-9]\d{14}0{3,}$/.test(text);

/** Accepts only digits, because 19.90, 1,990 or 1e3 could have several meanings. */
function parseCents(text: string): number | undefined {
  return /^[1-9]\d*$/.test(text) ? positiveOf(Number(text)) : undefined;
}
