import { CsvError, parse } from 'csv-parse';
import { createRefusal, PlainError } from '../plain-error.js';

/** Thrown if a statement cannot be used. Nothing of it is stored. The message says why. */
export class StatementRefused extends PlainError {}

export function refuseLine(line: number, why: string): StatementRefused {
  return createRefusal(StatementRefused, 'statement-line')`line ${line} of the statement: ${why}`;
}

export interface CsvRecord {
  /** The number of the line on which the record begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** The maximum length of a record in characters. It keeps a file that is no statement from filling the memory. */
const MAX_RECORD = 4096;
/** The maximum number of bytes that UTF-8 needs for one UTF-16 unit. */
const MAX_BYTES_OF_UNIT = 3;

export interface CsvRules {
  readonly createError: (line: number, why: string) => Error;
  /** True if the last line may lack its line break. False for statements: a cut-off number would look complete. */
  readonly lastLineMayBeOpen: boolean;
}

const STATEMENT_RULES: CsvRules = { createError: refuseLine, lastLineMayBeOpen: false };

const LONE_CR = /\r(?!\n)/;
const TOO_LONG = `it has more than ${MAX_RECORD} characters`;
const CUT_OFF = 'it does not end: the file may have been cut off';

/**
 * Messages that replace those of the CSV library. The library's messages quote the file, which may contain valuable
 * redemption codes.
 */
const PARSER_ERRORS: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: TOO_LONG,
  CSV_INVALID_CLOSING_QUOTE: 'text after the closing quotation mark of a field',
  INVALID_OPENING_QUOTE: 'a quotation mark in the middle of a field',
};

/** Parses CSV (RFC 4180) in UTF-8. Accepts a byte order mark, CRLF or LF, and chunks of any size. */
export async function* readCsvRecords(
  bytes: AsyncIterable<Uint8Array>,
  rules = STATEMENT_RULES,
): AsyncGenerator<CsvRecord> {
  const { createError, lastLineMayBeOpen } = rules;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  /**
   * The line number at the end of the text that was passed to the parser. The parser may not have returned all records
   * of this text.
   */
  let lines = 1;
  /** True if the last line passed to the parser is incomplete. */
  let isOpen = false;
  let line = 1;
  const found: CsvRecord[] = [];

  const parser = parse({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: MAX_RECORD * MAX_BYTES_OF_UNIT,
    // Uses a callback instead of the stream, so that records before an error are returned before the error is thrown.
    on_record(fields: readonly string[]) {
      const text = fields.join();
      if (text.length > MAX_RECORD) throw createError(line, TOO_LONG);
      // Refuses a CR without an LF even in quotation marks: asking the parser which fields are quoted would take four
      // times as long.
      if (LONE_CR.test(text)) throw createError(line, 'a CR without an LF');
      found.push({ line, fields });
      line += 1 + newlinesIn(text);
      return null;
    },
  });
  // Ignores the event, because the callback of the failed write also receives the error.
  parser.on('error', () => undefined);

  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw createError(lines, 'this or a line shortly after it is not UTF-8');
    }
  };
  const meaningOf = (error: Error): Error => {
    if (!(error instanceof CsvError)) return error;
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') return createError(lines, CUT_OFF);
    return createError(line, PARSER_ERRORS[error.code] ?? 'it is not CSV');
  };
  const parserError = (work: (done: (error?: Error | null) => void) => void) =>
    new Promise<Error | undefined>((resolve) => work((error) => resolve(error ? meaningOf(error) : undefined)));

  for await (const chunk of bytes) {
    const text = decoded(chunk);
    if (text === '') continue; // an empty chunk, or an incomplete character
    lines += newlinesIn(text);
    isOpen = !text.endsWith('\n');
    const error = await parserError((done) => parser.write(text, done));
    yield* found.splice(0);
    if (error) throw error;
  }
  decoded();
  const error = await parserError((done) => parser.end(done));
  const isCutOff = isOpen && !lastLineMayBeOpen;
  if (isCutOff && !error) found.pop();
  yield* found;
  if (error) throw error;
  if (isCutOff) throw createError(lines, CUT_OFF);
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}
