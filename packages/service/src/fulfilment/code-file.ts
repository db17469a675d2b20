import { readCsvRecords } from '../platform/csv/csv.js';
import { PlainError } from '../platform/plain-error.js';
import { MAX_CODE_LENGTH, UNPRINTABLE } from './fulfilment.js';

/** The file cannot be used, and nothing of it is: the message says where and why. */
export class CodesRefused extends PlainError {}

/** Never the code itself: it is worth money to whoever reads it. */
const refused = (line: number, why: string) => new CodesRefused(`line ${line} of the codes: ${why}`);

const MOST_CODES = 1_000_000;

export interface CodeFile {
  /** Each once, in the order of the file. */
  readonly codes: readonly string[];
  /** Lines that repeat a code of an earlier line. */
  readonly repeated: number;
}

/**
 * A code on each line, or a CSV file with a column `code`. Blank lines are passed over, and so is white space around a
 * code.
 */
export async function readCodes(bytes: AsyncIterable<Uint8Array>): Promise<CodeFile> {
  const codes = new Set<string>();
  let lines = 0;
  let columns: { readonly count: number; readonly code: number } | undefined;
  for await (const { line, fields } of readCsvRecords(bytes, { createError: refused, lastLineMayBeOpen: true })) {
    if (fields.every((field) => field.trim() === '')) continue;
    if (columns === undefined) {
      const header = fields.findIndex((field) => field.trim().toLowerCase() === 'code');
      columns = { count: fields.length, code: Math.max(header, 0) };
      if (header >= 0) continue;
      if (fields.length > 1) throw refused(line, 'it has several columns, and none of them is named code');
    }
    if (fields.length !== columns.count) {
      throw refused(line, `it has ${fields.length} fields instead of ${columns.count}`);
    }
    codes.add(codeOf(line, fields[columns.code] ?? ''));
    lines += 1;
    if (codes.size > MOST_CODES) throw refused(line, `there are more than ${MOST_CODES} codes; cut the file up`);
  }
  if (lines === 0) throw new CodesRefused('the file holds no codes');
  return { codes: [...codes], repeated: lines - codes.size };
}

function codeOf(line: number, field: string): string {
  const code = field.trim();
  if (code === '') throw refused(line, 'the code is empty');
  if ([...code].length > MAX_CODE_LENGTH) throw refused(line, `the code has more than ${MAX_CODE_LENGTH} characters`);
  if (UNPRINTABLE.test(code)) throw refused(line, 'the code holds control characters');
  return code;
}
