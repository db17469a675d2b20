import { type EndpointName, type PagingRequest, pageOf } from '@perennial/wire';
import { HeldUp, type Queryable, sqlState, type Transactional, Unavailable } from '../db/database.js';
import { type ListQuestion, type RowKey, readCursor, writeCursor } from './cursor.js';

export interface ListDefinition<Row, K extends RowKey> {
  readonly endpoint: EndpointName;
  isKey(parts: readonly unknown[]): parts is K;
  keyOf(row: Row): K;
}

/**
 * Where to begin reading: after the row `after`, or at the first row if it is undefined. `offset` further rows are
 * skipped.
 */
export interface ListPosition<K extends RowKey> {
  readonly after: K | undefined;
  readonly offset: number;
}

export interface ListPage<Row> {
  readonly rows: Row[];
  readonly paging: PageData;
}

export interface PageData {
  readonly page: number | null;
  readonly size: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

/**
 * The time limit in ms of each statement that reads a page. A page by cursor usually takes a hundredth of this time.
 */
export const MAX_LIST_MS = 3_000;

/** Thrown if a page cannot be read in time: it is too far from the beginning, or the database is overloaded. */
export class ListTooLong extends Unavailable {
  constructor(options?: ErrorOptions) {
    super(`the list could not be read within ${MAX_LIST_MS / 1000} s: use cursor, or a smaller size`, options);
  }
}

/** Reads a page of a list, by page number or by cursor. `read` must sort by the key. */
export async function readListPage<Row, K extends RowKey>(
  list: ListDefinition<Row, K>,
  { database, channelId }: { readonly database: Transactional; readonly channelId: number },
  filter: ListQuestion['filter'],
  request: PagingRequest,
  read: (db: Queryable, limit: number, place: ListPosition<K>) => Promise<Row[]>,
): Promise<ListPage<Row>> {
  const { page, size } = pageOf(request);
  const question = { endpoint: list.endpoint, channelId, filter };
  const place = {
    after: request.cursor === undefined ? undefined : readCursor(request.cursor, question, list.isKey),
    offset: page === null ? 0 : (page - 1) * size,
  };
  // Reads one row more than the page shows, to detect a next page.
  const found = await runWithinLimit(database, (db) => read(db, size + 1, place));
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  const hasMore = found.length > size;
  const nextCursor = hasMore && last !== undefined ? writeCursor(question, list.keyOf(last)) : null;
  return { rows, paging: { page, size, hasMore, nextCursor } };
}

async function runWithinLimit<T>(database: Transactional, work: (db: Queryable) => Promise<T>): Promise<T> {
  try {
    return await database.transaction(work, { statementMs: MAX_LIST_MS, readOnly: true });
  } catch (error) {
    throw error instanceof HeldUp && sqlState(error) === '57014' ? new ListTooLong({ cause: error }) : error;
  }
}

/** Returns a check for keys of `count` integers, such as a time in microseconds and a number. */
export function isNumberKey<N extends number>(count: N) {
  return (parts: readonly unknown[]): parts is Tuple<N> => parts.length === count && parts.every(Number.isSafeInteger);
}
type Tuple<N extends number, Parts extends readonly number[] = readonly []> = Parts['length'] extends N
  ? Parts
  : Tuple<N, readonly [...Parts, number]>;
