import { column, columns, type Queryable, type RowOf, statement } from '../platform/db/database.js';
import { declareList, type Query } from '../platform/db/declared.js';
import { shanghaiText } from '../platform/db/time-sql.js';
import type { Sums } from './sums.js';

export interface ProductSums extends Sums {
  readonly productCode: string;
  readonly settlementMode: string;
}

/** The figures of one channel in a closed month, as of the closing. */
export interface ClosedFigures {
  /** By product code and settlement mode. */
  readonly products: readonly ProductSums[];
  /** Changes in earlier closed months, by month, that were known at the closing and are booked in this month. */
  readonly later: Readonly<Record<string, Sums>>;
  /** Debits and refunds without a result at the closing. */
  readonly unsettled: number;
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

/** Lists closed months by time. */
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
/** Any number, as long as every node has the same. */
const CLOSING_LOCK = 7_366_373_664;

/** Serializes the closing of months. */
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
