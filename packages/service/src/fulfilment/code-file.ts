import { readCsvRecords } from '../platform/csv/csv.js';
import { createRefusal, PlainError } from '../platform/plain-error.js';
import { MAX_CODE_LENGTH, UNPRINTABLE } from './fulfilment.js';

/**
 * The file cannot be used, and none of its codes was stored. The message names the reason, and the line if a line is
 * wrong.
 */
export class CodesRefused extends PlainError {}

/** Leaves out the code itself, because anyone who reads it could use it. */
const refuseLine = (line: number, why: string) =>
  createRefusal(CodesRefused, 'codes-line')`line ${line} of the codes: ${why}`;

const MAX_CODES = 1_000_000;

export interface CodeFile {
  /** Each code once, in the order of the file. */
  readonly codes: readonly string[];
  /** The number of lines that repeat an earlier code. */
  readonly repeated: number;
}

/**
 * Reads a file with a code on each line, or a CSV file with a column `code`. Ignores blank lines, and white space
 * around a code.
 */
export async function readCodes(bytes: AsyncIterable<Uint8Array>): Promise<CodeFile> {
  const codes = new Set<string>();
  let lines = 0;
  let columns: { readonly count: number; readonly code: number } | undefined;
  for await (const { line, fields } of readCsvRecords(bytes, { createError: refuseLine, lastLineMayBeOpen: true })) {
    if (fields.every((field) => field.trim() === '')) continue;
    if (columns === undefined) {
      const header = fields.findIndex((field) => field.trim().toLowerCase() === 'code');
      columns = { count: fields.length, code: Math.max(header, 0) };
      if (header >= 0) continue;
      if (fields.length > 1) throw refuseLine(line, 'it has several columns, and none of them is named code');
    }
    if (fields.length !== columns.count) {
      throw refuseLine(line, `it has ${fields.length} fields instead of ${columns.count}`);
    }
    codes.add(readCode(line, fields[columns.code] ?? ''));
    lines += 1;
    if (codes.size > MAX_CODES) throw refuseLine(line, `there are more than ${MAX_CODES} codes; cut the file up`);
  }
  if (lines === 0) throw createRefusal(CodesRefused, 'codes-empty')`the file holds no codes`;
  return { codes: [...codes], repeated: lines - codes.size };
}

function readCode(line: number, field: string): string {
  const code = field.trim();
  if (code === '') throw refuseLine(line, 'the code is empty');
  if ([...code].length > MAX_CODE_LENGTH)
    throw refuseLine(line, `the code has more than ${MAX_CODE_LENGTH} characters`);
  if (UNPRINTABLE.test(code)) throw refuseLine(line, 'the code holds control characters');
  return code;
}
