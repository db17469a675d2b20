import { refusal } from './operator.js';
import { requireInteger } from './rules.js';

/** How lists page: by the key of the last row that was shown, so that no page costs more than the first. */
export interface PageInput {
  /** `nextCursor` of the page before. Unset: from the beginning. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** What a list is sorted by, and what names one of its rows. */
export type PageKey = readonly (number | string)[];

const DEFAULT_ROWS = 50;
const MAX_ROWS = 200;

export const requirePageSize = (limit = DEFAULT_ROWS): number =>
  requireInteger('the number of rows', limit, 1, MAX_ROWS);

/**
 * One page of the list of that name. `example` is a key of the list: a cursor must have as many parts, of the same types. `read` gets the key
 * of the last row that was shown, and one row more is read than is shown: whether there is another page.
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

/** The list and the key. It gives no rights: what may be read does not depend on it. */
export function writeCursor(list: string, key: PageKey): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url');
}

export function readCursor<Key extends PageKey>(list: string, text: string, example: Key): Key {
  const [, ...key] = parseArray(Buffer.from(text, 'base64url').toString());
  const isKey =
    key.length === example.length &&
    key.every((part, place) => typeof part === typeof example[place] && isUsable(part));
  if (!isKey || writeCursor(list, key as unknown as Key) !== text)
    throw refusal('cursor-unknown')`the cursor is none that was given with a page of this list`;
  return key as unknown as Key;
}

/** Numbers of rows and times are above zero; PostgreSQL takes neither a fraction for one nor a text with a zero character. */
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
