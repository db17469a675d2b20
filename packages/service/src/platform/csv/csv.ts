import { refusedAt } from './refused.js';

export interface CsvRecord {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** Longer than any record of a statement: a file that is something else does not fill the memory first. */
const MAX_RECORD = 4096;

export interface CsvRules {
  /** The error for something wrong in a line. */
  readonly refused: (line: number, why: string) => Error;
  /** Whether the last line may stop short. In a statement it may not: cut off in the middle of a number it would look whole. */
  readonly lastLineMayBeOpen: boolean;
}

const STATEMENT: CsvRules = { refused: refusedAt, lastLineMayBeOpen: false };

/** RFC 4180 in UTF-8, with or without a byte order mark, lines ending in CRLF or LF, however the bytes are cut up. */
export async function* csvRecords(bytes: AsyncIterable<Uint8Array>, rules = STATEMENT): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = new RecordReader(rules);
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw rules.refused(reader.line, 'this or a line shortly after it is not UTF-8');
    }
  };
  for await (const chunk of bytes) yield* reader.read(decoded(chunk));
  yield* reader.read(decoded());
  yield* reader.end();
}

/**
 * Where in a field the next character falls: before its first, in a plain one, in a quoted one, after a quotation mark
 * in a quoted one (its end, or half of a doubled one), after the CR of a line end.
 */
type Place = 'start' | 'plain' | 'quoted' | 'quote' | 'cr';

class RecordReader {
  readonly #rules: CsvRules;
  line = 1;
  #begin = 1;
  #place: Place = 'start';
  #fields: string[] = [];
  #field = '';
  #length = 0;

  constructor(rules: CsvRules) {
    this.#rules = rules;
  }

  *read(text: string): Generator<CsvRecord> {
    for (let index = 0; index < text.length; index += 1) {
      if (this.#take(text.charAt(index))) yield this.#record();
    }
  }

  *end(): Generator<CsvRecord> {
    const { refused, lastLineMayBeOpen } = this.#rules;
    if (this.#length === 0) return;
    if (!lastLineMayBeOpen || this.#place === 'quoted') {
      throw refused(this.line, 'it does not end: the file may have been cut off');
    }
    this.#endField('start');
    yield this.#record();
  }

  #record(): CsvRecord {
    const record = { line: this.#begin, fields: this.#fields };
    this.#fields = [];
    this.#length = 0;
    this.#begin = this.line;
    return record;
  }

  /** True when this character ends a record. */
  #take(char: string): boolean {
    this.#length += 1;
    if (this.#length > MAX_RECORD) throw this.#rules.refused(this.#begin, `it has more than ${MAX_RECORD} characters`);
    if (char === '\n') this.line += 1;
    if (this.#place === 'quoted') {
      if (char === '"') this.#place = 'quote';
      else this.#field += char;
      return false;
    }
    if (this.#place === 'quote' && char === '"') {
      this.#field += char;
      this.#place = 'quoted';
      return false;
    }
    if (this.#place === 'cr' && char !== '\n') throw this.#rules.refused(this.line, 'a CR without an LF');
    switch (char) {
      case '\n':
        this.#endField('start');
        return true;
      case '\r':
        this.#place = 'cr';
        return false;
      case ',':
        this.#endField('start');
        return false;
      case '"':
        if (this.#place !== 'start') throw this.#rules.refused(this.line, 'a quotation mark in the middle of a field');
        this.#place = 'quoted';
        return false;
      default:
        if (this.#place === 'quote')
          throw this.#rules.refused(this.line, 'text after the closing quotation mark of a field');
        this.#field += char;
        this.#place = 'plain';
        return false;
    }
  }

  #endField(next: Place): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#place = next;
  }
}
