/**
 * Which due orders a statement takes: everything by the database's clock, or one order by a clock of its own, which is how
 * time travels. The text differs, the three parameters do not.
 */
export type DueOrders =
  /** From where the statement before left off: rows that are done stay in the index until a vacuum. */
  | { readonly kind: 'everything'; readonly after: DueCursor }
  | { readonly kind: 'one-order'; readonly at: number; readonly orderNo: number };

/** The last row taken, times as PostgreSQL writes them. */
export interface DueCursor {
  readonly dueAt: string;
  readonly orderNo: number;
}

export const START_OF_DUE_ORDERS: DueCursor = { dueAt: '-infinity', orderNo: 0 };

/** The condition of a select in which the order is called `o`. What another node holds is that node's business. */
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
    : [limit, new Date(due.at).toISOString(), due.orderNo];
}

/** The moment of the statement, in whole seconds as times are shown, or that of the order's own clock. */
export const momentSql = (kind: DueOrders['kind']) =>
  kind === 'everything' ? `date_trunc('second', now())` : '$2::timestamptz';
