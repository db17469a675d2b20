import { column, columns, type Queryable, type RowOf, statement } from '../platform/db/database.js';
import { declareList, declareRequire, declareWrite, type Query } from '../platform/db/declared.js';
import { fromEpochMs, inShanghaiZone, shanghaiText } from '../platform/db/time-sql.js';

export type StatementSource = 'GATEWAY' | 'FILE';

export const DIFFERENCE_KINDS = ['MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'STATE', 'DUPLICATE', 'OUTSIDE'] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface ReconciliationRun extends DayOfChannel {
  readonly source: StatementSource;
  readonly runBy: string;
  /** Unix milliseconds. */
  readonly runAt: number;
  readonly lines: number;
}

const BEGIN_RUN = statement({
  text: `insert into reconciliations (payment_channel_code, day, source, lines, differences, run_by, run_at)
     values ($1, $2, $3, $4, 0, $5, ${fromEpochMs('$6')})
     on conflict (payment_channel_code, day) do update
       set source = excluded.source, lines = excluded.lines, run_by = excluded.run_by, run_at = excluded.run_at`,
  parameters: ['text', 'date', 'text', 'bigint', 'text', 'double precision'],
});

/** Writes the day's row and so locks it: a second run of the same day waits until the first has committed. */
export async function beginRun(tx: Queryable, run: ReconciliationRun): Promise<void> {
  await tx.query(BEGIN_RUN, [run.paymentChannelCode, run.day, run.source, run.lines, run.runBy, run.runAt]);
}

export interface DayOfChannel {
  readonly paymentChannelCode: string;
  readonly day: string;
}

/** Stores the number of differences that the run found, including differences that an operator has closed. */
export const endRun: Query<[paymentChannelCode: string, day: string, found: number], void> = declareWrite({
  text: 'update reconciliations set differences = $3 where payment_channel_code = $1 and day = $2',
  parameters: ['text', 'date', 'integer'],
});

/** A reconciliation. Times are formatted as in the API. */
export type ReconciliationView = RowOf<typeof RECONCILIATION_COLUMNS>;

const SAME_DAY = 'd.payment_channel_code = r.payment_channel_code and d.day = r.day';
const RECONCILIATION_FIELDS = `r.payment_channel_code as "paymentChannelCode", r.day::text as day, r.source, r.lines, r.differences,
  (select count(*) from reconciliation_differences d where ${SAME_DAY} and d.closed_at is null) as open,
  r.run_by as "runBy", ${shanghaiText('r.run_at')} as "runAt"`;

const RECONCILIATION_COLUMNS = columns({
  paymentChannelCode: 'text',
  day: 'text',
  source: column<StatementSource>('text'),
  lines: 'bigint',
  /** The number of differences that the last run found. */
  differences: 'integer',
  /** The number of open differences of that day, whichever run found them. */
  open: 'bigint',
  runBy: 'text',
  runAt: 'text',
});

export const findReconciliation: Query<[paymentChannelCode: string, day: string], ReconciliationView> = declareRequire({
  text: `select ${RECONCILIATION_FIELDS} from reconciliations r where r.payment_channel_code = $1 and r.day = $2`,
  parameters: ['text', 'date'],
  columns: RECONCILIATION_COLUMNS,
});

const FIND_RECONCILIATIONS = statement({
  text: `select ${RECONCILIATION_FIELDS} from reconciliations r where ($1::text is null or r.payment_channel_code = $1)
       and ($3::date is null or r.day < $3 or (r.day = $3 and r.payment_channel_code > $4::text))
     order by r.day desc, r.payment_channel_code limit $2`,
  parameters: ['text', 'bigint', 'date', 'text'],
  columns: RECONCILIATION_COLUMNS,
});

/** Lists reconciliations, latest day first. */
export async function findReconciliations(
  db: Queryable,
  {
    paymentChannelCode,
    after,
    limit,
  }: {
    readonly paymentChannelCode: string | null;
    /** The position after which the list begins. If undefined, the list begins with its first entry. */
    readonly after?: ReconciliationKey | undefined;
    readonly limit: number;
  },
): Promise<ReconciliationView[]> {
  const [afterDay, afterCode] = after ?? [null, null];
  return db.query(FIND_RECONCILIATIONS, [paymentChannelCode, limit, afterDay, afterCode]);
}

/** The day and the payment channel of a reconciliation. */
export type ReconciliationKey = readonly [day: string, paymentChannelCode: string];

/** Counts the open differences that runs have found. */
export const countOpenDifferences: Query<
  [paymentChannelCode: string, day: string],
  { kind: DifferenceKind; count: number }[]
> = declareList({
  text: `select kind, count(*) as count from reconciliation_differences
     where payment_channel_code = $1 and day = $2 and closed_at is null and kind <> 'OUTSIDE' group by kind order by kind`,
  parameters: ['text', 'date'],
});

const FIND_DAYS_TO_RECONCILE = statement({
  text: `select p.code as "paymentChannelCode", array_agg(d.day::text order by d.day) as days
     from payment_channels p cross join lateral (
       select $1::date - n as day from generate_series(1, $3::integer) n) d
     where p.gateway = 'bridge' and d.day >= ${inShanghaiZone('p.created_at')}::date and not exists (
       select from reconciliations r where r.payment_channel_code = p.code and r.day = d.day and (
         r.run_at >= ${inShanghaiZone('($1::date + make_interval(hours => $2))')} or not exists (
           select from reconciliation_differences d where ${SAME_DAY} and d.closed_at is null)))
     group by p.code order by p.code`,
  parameters: ['date', 'integer', 'integer'],
});

/**
 * Lists each payment channel's days to reconcile. Omits a day that has a run since `hour` o'clock today, and a
 * reconciled day without open differences.
 */
export async function findDaysToReconcile(
  db: Queryable,
  { today, hour, back }: { readonly today: string; readonly hour: number; readonly back: number },
): Promise<{ paymentChannelCode: string; days: string[] }[]> {
  return db.query(FIND_DAYS_TO_RECONCILE, [today, hour, back]);
}

const LEASE_RECONCILIATION_HOUR = statement({
  text: `insert into job_marks as m (job, reached_at) values ($1, now())
     on conflict (job) do update set reached_at = excluded.reached_at
       where m.reached_at <= excluded.reached_at - interval '1 hour'
         or m.reached_at > excluded.reached_at + interval '1 hour'
     returning 1`,
  parameters: ['text'],
});

/** Returns true to one node, then false to every node for an hour. So a failed day is retried after an hour. */
export async function leaseReconciliationHour(db: Queryable, paymentChannelCode: string): Promise<boolean> {
  const leased = await db.query(LEASE_RECONCILIATION_HOUR, [`reconciliation ${paymentChannelCode}`]);
  return leased.length > 0;
}
