import { isoTime } from '../../../platform/db/time-sql.js';
/**
 * The due orders that a statement processes: all that are due by the database's clock, or one order at a given time,
 * for time travel and for agreements/replace. Both kinds have the same three parameters, but a different SQL text.
 */
export type DueOrders =
  /**
   * Continues after the last row of the previous statement: processed rows stay in the index until a vacuum, and would
   * be scanned again.
   */
  | { readonly kind: 'everything'; readonly after: DueCursor }
  | { readonly kind: 'one-order'; readonly at: number; readonly orderNo: number };

/** The last row that a statement processed. Its time is in PostgreSQL's notation. */
export interface DueCursor {
  readonly dueAt: string;
  readonly orderNo: number;
}

export interface DueBatch {
  /** The number of orders that were advanced. */
  readonly orders: number;
  /** The row after which the next statement begins. Undefined at the end of the due orders. */
  readonly last: DueCursor | undefined;
}

export const START_OF_DUE_ORDERS: DueCursor = { dueAt: '-infinity', orderNo: 0 };

/**
 * SQL: the condition on the order named `o`, with sorting and locking. Skips orders that another transaction has
 * locked.
 */
export function dueOrdersSql(kind: DueOrders['kind']): string {
  const which =
    kind === 'everything'
      ? 'o.next_due_at <= now() and (o.next_due_at, o.order_no) > ($2::timestamptz, $3::bigint)'
      : 'o.next_due_at <= $2::timestamptz and o.order_no = $3';
  return `${which} order by o.next_due_at, o.order_no limit $1 for update skip locked`;
}

export const DUE_PARAMETERS = ['bigint', 'timestamp with time zone', 'bigint'] as const;

export function dueParameters(due: DueOrders, limit: number): [number, string, number] {
  return due.kind === 'everything'
    ? [limit, due.after.dueAt, due.after.orderNo]
    : [limit, isoTime(due.at), due.orderNo];
}

/** SQL: the current time, in whole seconds because times are shown so. For a single order: the time in `$2`. */
export const momentSql = (kind: DueOrders['kind']) =>
  kind === 'everything' ? `date_trunc('second', now())` : '$2::timestamptz';
