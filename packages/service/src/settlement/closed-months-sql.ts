import { column, columns, type Queryable, type RowOf, statement } from '../platform/db/database.js';
import { declareList, type Query } from '../platform/db/declared.js';
import { shanghaiText } from '../platform/db/time-sql.js';
import type { Fees } from './fees.js';
import type { Sums } from './sums.js';

export interface ProductSums extends Sums {
  readonly productCode: string;
  readonly settlementMode: string;
}

/** The figures of one channel in a closed month, as they were when the month was closed. */
export interface ClosedFigures {
  /** Sums by product code and settlement mode. */
  readonly products: readonly ProductSums[];
  /** Changes in earlier closed months, by month. They were known when this month was closed and are booked in it. */
  readonly later: Readonly<Record<string, Sums>>;
  /** The number of debits and refunds that had no result when the month was closed. */
  readonly unsettled: number;
  /** Absent if the channel had no terms, or if a release without fees closed the month. */
  readonly fees?: Fees;
}

export type ClosedMonth = RowOf<typeof CLOSED_MONTH_COLUMNS>;

/** The channel id of the row that marks the month as closed. */
const NO_CHANNEL = '0';

const CLOSED_MONTH_COLUMNS = columns({
  /** A month of Asia/Shanghai, yyyy-MM. */
  month: 'text',
  closedBy: 'text',
  closedAt: 'text',
});

/** Lists closed months, earliest first. */
export const listClosedMonths: Query<[], ClosedMonth[]> = declareList({
  text: `select month, closed_by as "closedBy", ${shanghaiText('closed_at')} as "closedAt" from closed_months
     where channel_id = ${NO_CHANNEL} order by month`,
  parameters: [],
  columns: CLOSED_MONTH_COLUMNS,
});

export type ClosedChannelMonth = RowOf<typeof CLOSED_CHANNEL_MONTH_COLUMNS>;

const CLOSED_CHANNEL_MONTH_COLUMNS = columns({
  month: 'text',
  channelId: 'text',
  figures: column<ClosedFigures>('jsonb'),
});

/** Lists the figures of all closed months, for all channels or one. */
export const listClosedFigures: Query<[channelId?: string], ClosedChannelMonth[]> = declareList({
  text: `select month, channel_id::text as "channelId", figures from closed_months
     where channel_id <> ${NO_CHANNEL} and ($1::bigint is null or channel_id = $1) order by month, channel_id`,
  parameters: [column<string | undefined>('bigint')],
  columns: CLOSED_CHANNEL_MONTH_COLUMNS,
});

const LOCK_CLOSING = statement({ text: 'select pg_advisory_xact_lock($1)', parameters: ['bigint'] });
/** The key of the advisory lock. Every node must use the same number. */
const CLOSING_LOCK = 7_366_373_664;

/** Lets only one transaction at a time close a month. */
export async function lockClosing(tx: Queryable): Promise<void> {
  await tx.query(LOCK_CLOSING, [CLOSING_LOCK]);
}

const STORE_CLOSED_MONTH = statement({
  text: `insert into closed_months (month, channel_id, figures, closed_by)
     select $1, c.channel_id, c.figures, $4 from unnest($2::bigint[], $3::jsonb[]) as c(channel_id, figures)`,
  parameters: ['text', 'bigint[]', 'jsonb[]', 'text'],
});

export async function storeClosedMonth(
  tx: Queryable,
  month: string,
  channels: ReadonlyMap<string, ClosedFigures>,
  { by, note }: { readonly by: string; readonly note: string | null },
): Promise<void> {
  const rows = [[NO_CHANNEL, { note }] as const, ...channels];
  await tx.query(STORE_CLOSED_MONTH, [
    month,
    rows.map(([channelId]) => channelId),
    rows.map(([, figures]) => JSON.stringify(figures)),
    by,
  ]);
}
