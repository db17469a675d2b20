import { type EndpointName, type PagingRequest, pageOf } from '@perennial/wire';
import { HeldUp, type Queryable, sqlState, type Transactional, Unavailable } from '../db/database.js';
import { type ListQuestion, type RowKey, readCursor, writeCursor } from './cursor.js';

export interface ListDefinition<Row, K extends RowKey> {
  readonly endpoint: EndpointName;
  isKey(parts: readonly unknown[]): parts is K;
  keyOf(row: Row): K;
}

/** Start of reading: after a row, or at the newest, then `offset` rows further. */
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

/** Time for which a page may hold a connection. A page by cursor takes a hundredth of it. */
export const MAX_LIST_MS = 3_000;

/** The page is too far from the beginning to be read in time, or the database is overloaded. */
export class ListTooLong extends Unavailable {
  constructor(options?: ErrorOptions) {
    super(`the list could not be read within ${MAX_LIST_MS / 1000} s: use cursor, or a smaller size`, options);
  }
}

/** Reads a page of a list, by number or cursor. `read` must sort by the keys. */
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
  // Reads one more row to see if there is another page.
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

/** Checks the keys of lists: numbers, or a time in microseconds and a number. */
export function isNumberKey<N extends number>(count: N) {
  return (parts: readonly unknown[]): parts is Tuple<N> => parts.length === count && parts.every(Number.isSafeInteger);
}
type Tuple<N extends number, Parts extends readonly number[] = readonly []> = Parts['length'] extends N
  ? Parts
  : Tuple<N, readonly [...Parts, number]>;
