import { OperatorError } from './operator.js';
import { requireInteger } from './rules.js';

/** How a list is asked for: by the key of the last row that was shown, never by a number of rows. */
export interface PageRequest {
  readonly cursor?: string | undefined;
  /** Digits, as they stand in an address. */
  readonly limit?: string | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

const USUAL_ROWS = 50;
const MAX_ROWS = 200;

export const requirePageSize = (limit: string | undefined): number =>
  requireInteger('the number of rows', Number(limit ?? USUAL_ROWS), 1, MAX_ROWS);

/** The numbers that a row of a list is known and sorted by. They give no rights. */
export const writeCursor = (key: readonly number[]): string => key.join('.');

export function readCursor(cursor: string, numbersInKey: number): readonly number[] {
  const key = cursor.split('.').map(Number);
  const isKey = key.length === numbersInKey && key.every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!isKey || writeCursor(key) !== cursor) throw new OperatorError('the cursor is none that this list has given');
  return key;
}

/** One page of a list that is known by one number. `read` is asked for one row more, which tells whether there is another page. */
export async function readPage<Row>(
  { cursor, limit }: PageRequest,
  read: (after: number | undefined, limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => number,
): Promise<Page<Row>> {
  const size = requirePageSize(limit);
  const found = await read(cursor === undefined ? undefined : readCursor(cursor, 1)[0], size + 1);
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > size && last !== undefined ? writeCursor([keyOf(last)]) : null };
}
