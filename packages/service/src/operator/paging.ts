import { refusal } from './operator.js';
import { requireInteger } from './rules.js';

/** Input of keyset pagination: every page costs as much as the first. */
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

/** The sort key of a list, unique per row. */
export type PageKey = readonly (number | string)[];

const DEFAULT_ROWS = 50;
const MAX_ROWS = 200;

export const requirePageSize = (limit = DEFAULT_ROWS): number =>
  requireInteger('the number of rows', limit, 1, MAX_ROWS);

/**
 * Reads one page of a list. A cursor must have parts like those of `example`. `read` receives the key of the last row
 * shown, and reads one row more than is shown, to detect a next page.
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

/** Encodes the list and the key. A cursor grants no rights. */
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

/** Refuses parts that PostgreSQL refuses: fractions and zero characters. Row numbers and times are positive. */
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
