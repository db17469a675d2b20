import { isoTime } from '../../../platform/db/time-sql.js';
/**
 * Which due orders a statement takes: all that are due by the database's clock, or one order at a given time, for the sandbox's
 * time travel. The text of the statement differs, its three parameters do not.
 */
export type DueOrders =
  /** `after` is where the previous statement stopped: rows that are done stay in the index until a vacuum. */
  | { readonly kind: 'everything'; readonly after: DueCursor }
  | { readonly kind: 'one-order'; readonly at: number; readonly orderNo: number };

/** The last row that a statement took. Its time is text as PostgreSQL writes it. */
export interface DueCursor {
  readonly dueAt: string;
  readonly orderNo: number;
}

export interface DueBatch {
  /** How many orders were moved on. */
  readonly orders: number;
  /** Where the next statement continues. Undefined when nothing is left. */
  readonly last: DueCursor | undefined;
}

export const START_OF_DUE_ORDERS: DueCursor = { dueAt: '-infinity', orderNo: 0 };

/** SQL condition on the order called `o`. Orders that another node has locked are skipped. */
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

/** SQL of the present time in whole seconds, as times are shown; or the time that was given for the one order. */
export const momentSql = (kind: DueOrders['kind']) =>
  kind === 'everything' ? `date_trunc('second', now())` : '$2::timestamptz';
