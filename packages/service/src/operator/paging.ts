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
 * One page of a list. `example` is a key of the list: a cursor must have as many parts, of the same types. `read` gets the key
 * of the last row that was shown, and one row more is read than is shown: whether there is another page.
 */
export async function readPage<Row, Key extends PageKey>(
  { cursor, limit }: PageInput,
  example: Key,
  read: (after: Key | undefined, limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): Promise<Page<Row>> {
  const rows = requirePageSize(limit);
  const found = await read(cursor === undefined ? undefined : readCursor(cursor, example), rows + 1);
  const shown = found.slice(0, rows);
  const last = shown.at(-1);
  return { rows: shown, nextCursor: found.length > rows && last !== undefined ? writeCursor(keyOf(last)) : null };
}

/** It gives no rights: what may be read does not depend on it. */
export function writeCursor(key: PageKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

export function readCursor<Key extends PageKey>(text: string, example: Key): Key {
  const key = parseJson(Buffer.from(text, 'base64url').toString());
  const isKey =
    Array.isArray(key) &&
    key.length === example.length &&
    key.every((part, place) => typeof part === typeof example[place] && isUsable(part));
  if (!isKey) throw refusal('cursor-unknown')`the cursor is none that was given with a page of this list`;
  return key as unknown as Key;
}

/** PostgreSQL takes neither a fraction for a whole number nor a text with a zero character. */
function isUsable(part: unknown): boolean {
  return typeof part === 'string' ? !part.includes('\0') : Number.isSafeInteger(part);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
