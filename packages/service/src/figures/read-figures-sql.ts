import { columns, joinColumns, type Queryable, type RowOf, statement } from '../platform/db/database.js';
import { epochMs, fromEpochMs, inShanghaiZone } from '../platform/db/time-sql.js';
import { FIGURE_COLUMNS, FIGURE_NAMES, type Figures, perFigure } from './figures.js';

/** A time range in Unix milliseconds, with `to` exclusive. Includes all channels unless a channel is given. */
export interface FigureRange {
  readonly from: number;
  readonly to: number;
  readonly channelId: number | undefined;
}

/** The length of time that one point of a series represents. */
export type Bucket = 'hour' | 'day' | 'month';

const SUMS = FIGURE_NAMES.map((name) => `coalesce(sum(f.${FIGURE_COLUMNS[name]}), 0)::bigint as "${name}"`).join(', ');

const SUM_COLUMNS = columns(perFigure('bigint' as const));

/**
 * For each bucket: the smallest table from which the bucket can be summed up, the table's time column, and SQL for the
 * start of the bucket.
 */
const TABLES = {
  hour: { table: 'hourly_figures', at: 'f.hour', start: 'f.hour' },
  day: { table: 'daily_figures', at: 'f.day', start: 'f.day' },
  month: {
    table: 'daily_figures',
    at: 'f.day',
    start: inShanghaiZone(`date_trunc('month', ${inShanghaiZone('f.day')})`),
  },
} as const;

const inRange = (at: string) =>
  `${at} >= ${fromEpochMs('$1')} and ${at} < ${fromEpochMs('$2')} and ($3::bigint is null or f.channel_id = $3)`;

const readSeriesStatement = (bucket: Bucket) => {
  const { table, at, start } = TABLES[bucket];
  return statement({
    text: `select ${epochMs(start)} as at, ${SUMS} from ${table} f where ${inRange(at)} group by ${start}`,
    parameters: ['double precision', 'double precision', 'bigint'],
    columns: joinColumns(SUM_COLUMNS, columns({ at: 'bigint' })),
  });
};

const READ_SERIES = {
  hour: readSeriesStatement('hour'),
  day: readSeriesStatement('day'),
  month: readSeriesStatement('month'),
};

/** Returns only buckets with activity, in no particular order. */
export async function readSeries(
  db: Queryable,
  bucket: Bucket,
  { from, to, channelId }: FigureRange,
): Promise<(Figures & { readonly at: number })[]> {
  return db.query(READ_SERIES[bucket], [from, to, channelId ?? null]);
}

export type ChannelFigures = RowOf<ReturnType<typeof readByChannelStatement>>;

const readByChannelStatement = ({ table, at }: (typeof TABLES)['hour' | 'day']) =>
  statement({
    text: `select c.app_id as "appId", c.name, s."ordersCreated", s."debitsFailed",
        s."paidCent" + s."billedCent" as "volumeCent" from (
        select f.channel_id, ${SUMS} from ${table} f where ${inRange(at)} group by f.channel_id) s
      join channels c using (channel_id)
      order by "volumeCent" desc, s."ordersCreated" desc, c.app_id limit $4`,
    parameters: ['double precision', 'double precision', 'bigint', 'bigint'],
    columns: columns({
      appId: 'text',
      name: 'text',
      ordersCreated: 'bigint',
      debitsFailed: 'bigint',
      /** The sum of what the service collected and what it billed to the channel. */
      volumeCent: 'bigint',
    }),
  });

const READ_BY_CHANNEL = { hour: readByChannelStatement(TABLES.hour), day: readByChannelStatement(TABLES.day) };

/** Returns the sums of each channel, the channel with the highest volume first. */
export async function readFiguresByChannel(
  db: Queryable,
  bucket: Bucket,
  { from, to, channelId }: FigureRange,
  limit: number,
): Promise<ChannelFigures[]> {
  return db.query(READ_BY_CHANNEL[bucket === 'hour' ? 'hour' : 'day'], [from, to, channelId ?? null, limit]);
}
