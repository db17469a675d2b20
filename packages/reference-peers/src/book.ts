import { closeSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import path from 'node:path';

/** Rows by key. Every change by `set` and `delete` is also written to the book's file, if it has one. */
export class Table<Row> extends Map<string, Row> {
  readonly #append: (key: string, row: Row | null) => void;

  constructor(append: (key: string, row: Row | null) => void) {
    super();
    this.#append = append;
  }

  override set(key: string, row: Row): this {
    this.#append(key, row);
    return super.set(key, row);
  }

  override delete(key: string): boolean {
    this.#append(key, null);
    return super.delete(key);
  }

  /** Applies a change that was read from the file, so it is not written again. */
  restore(key: string, row: Row | null): void {
    if (row === null) super.delete(key);
    else super.set(key, row);
  }
}

export interface Book {
  table<Row>(name: string): Table<Row>;
  close(): void;
}

/**
 * Opens a book in a file of JSON lines, or only in memory if no file is given. Changes of one synchronous run are
 * written together, before any promise continues. So changes that were answered survive kill -9, and the changes of one
 * run survive either all or not at all.
 */
export function openBook(file?: string): Book {
  const lines = file === undefined ? [] : readLines(file);
  let descriptor = file === undefined ? undefined : openSync(file, 'a', 0o600);
  let changes = '';
  const write = (): void => {
    if (descriptor !== undefined && changes !== '') writeSync(descriptor, changes);
    changes = '';
  };
  return {
    table<Row>(name: string) {
      const table = new Table<Row>((key, row) => {
        if (descriptor === undefined) return;
        if (changes === '') queueMicrotask(write);
        changes += `${JSON.stringify([name, key, row])}\n`;
      });
      for (const [of, key, row] of lines) if (of === name) table.restore(key, row as Row | null);
      return table;
    },
    close() {
      write();
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** Reads the file. Cuts off a last line that a crash left incomplete: its change was never answered. */
function readLines(file: string): [table: string, key: string, row: unknown][] {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const bytes = readFileSync(file, { flag: 'a+' });
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  if (whole.length < bytes.length) truncateSync(file, whole.length);
  return whole.length === 0 ? [] : JSON.parse(`[${whole.toString().trimEnd().replaceAll('\n', ',')}]`);
}
