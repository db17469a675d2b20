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
