import { HeldUp, type Queryable, sqlState, type Transactional } from '../platform/db/database.js';
import { refusal } from './operator.js';
import { requireInteger } from './rules.js';

/** The input of keyset pagination, in which a late page costs no more than the first. */
export interface PageInput {
  /** The `nextCursor` of the previous page. Unset: the list begins at its first row. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The sort key of a row. No two rows of a list have the same key. */
export type PageKey = readonly (number | string)[];

/** Totals are exact up to this number of rows. */
export const MAX_COUNTED = 10_000;
/** Time limit of a statement that reads a page or totals, while a page waits. */
const LIST_MS = 3_000;
/** Time limit of a statement of an export or of a bulk run. These may search for rare rows. */
export const LONG_LIST_MS = 120_000;
const TIMED_OUT = '57014';

/** Reads a list. The list is refused if it cannot be read in time: a part of it would look like the whole list. */
export async function readList<T>(
  database: Transactional,
  read: (db: Queryable) => Promise<T>,
  statementMs = LIST_MS,
): Promise<T> {
  try {
    return await database.transaction(read, { statementMs, readOnly: true });
  } catch (error) {
    if (!(error instanceof HeldUp && sqlState(error) === TIMED_OUT)) throw error;
    const seconds = statementMs / 1000;
    throw refusal('list-too-long', undefined, {
      cause: error,
    })`the search takes longer than ${seconds} seconds: choose a shorter time range`;
  }
}

/** Reads all rows of a list, up to `size` with each statement, so that no transaction is open for long. */
export async function* readPieces<Row, Key>(
  read: (after: Key | undefined) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
  size: number,
): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined;
  do {
    const rows = await read(last && keyOf(last));
    if (rows.length > 0) yield rows;
    last = rows.length < size ? undefined : rows.at(-1);
  } while (last !== undefined);
}

export interface Counted {
  readonly count: number;
  /** True if there are more rows than were counted. */
  readonly isAtLeast: boolean;
}

/** SQL: counts the first `most` rows `f` of a list that ends after one more, and computes `sums` of the counted rows. */
export const countSql = (list: string, most: number, sums: string): string =>
  `with found as materialized (${list})
   select (select count(*) from found) > ${most} as "isAtLeast", count(*)::integer as count, ${sums}
   from (select * from found limit ${most}) f`;

const DEFAULT_ROWS = 50;
const MAX_ROWS = 200;

export const requirePageSize = (limit = DEFAULT_ROWS): number =>
  requireInteger('the number of rows', limit, 1, MAX_ROWS);

/**
 * Reads one page of a list. `read` receives the key after which the page begins, and returns up to one row more than
 * the page shows, to detect a next page. `example` is a key with the types that a cursor's parts must have.
 */
export async function readPage<Row, Key extends PageKey>(
  list: string,
  { cursor, limit }: PageInput,
  example: Key,
  read: (after: Key | undefined, limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): Promise<Page<Row>> {
  const rows = requirePageSize(limit);
  const found = await read(cursor === undefined ? undefined : readCursor(list, cursor, example), rows + 1);
  const shown = found.slice(0, rows);
  const last = shown.at(-1);
  return { rows: shown, nextCursor: found.length > rows && last !== undefined ? writeCursor(list, keyOf(last)) : null };
}

/** Encodes the list's name and the key. A forged cursor gives no access: it only selects a position. */
export function writeCursor(list: string, key: PageKey): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url');
}

export function readCursor<Key extends PageKey>(list: string, text: string, example: Key): Key {
  const [, ...key] = parseArray(Buffer.from(text, 'base64url').toString());
  const isKey =
    key.length === example.length &&
    key.every((part, place) => typeof part === typeof example[place] && isUsable(part));
  if (!isKey || writeCursor(list, key as unknown as Key) !== text)
    throw refusal('cursor-unknown')`the cursor is not valid for this list; start at the first page`;
  return key as unknown as Key;
}

/**
 * Returns false for parts that no key has: fractions and zero characters, which PostgreSQL would refuse, and numbers
 * below 1.
 */
function isUsable(part: unknown): boolean {
  return typeof part === 'string' ? !part.includes('\0') : Number.isSafeInteger(part) && Number(part) > 0;
}

function parseArray(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
