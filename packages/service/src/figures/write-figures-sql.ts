import { isPayment } from '../delivery/history/attempts-sql.js';
import { columns, type Queryable, queryOne, type RowOf, statement } from '../platform/db/database.js';
import { declareWrite, type Query } from '../platform/db/declared.js';
import { epochMs, fromEpochMs, inShanghaiZone } from '../platform/db/time-sql.js';
import { ENDED_ORDER_STATUSES } from '../subscriptions/domain/orders/order-states.js';
import { WAITING_FOR_RETRY_STATUSES } from '../subscriptions/domain/payments/payment-states.js';
import { orderStatusIs, paymentStatusIs } from '../subscriptions/store/statuses-sql.js';
import { FIGURE_COLUMNS, FIGURES_JOB, FIGURES_SINCE_JOB, type FigureColumn } from './figures.js';

/** Unix milliseconds at full hours, with `to` exclusive. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

const COLUMNS: readonly FigureColumn[] = Object.values(FIGURE_COLUMNS);

const within = (at: string) => `${at} >= ${fromEpochMs('$1')} and ${at} < ${fromEpochMs('$2')}`;

interface Source {
  /** The time that decides to which hour a row belongs. It is indexed. */
  readonly at: string;
  readonly from: string;
  readonly figures: Readonly<Partial<Record<FigureColumn, string>>>;
}

/**
 * SQL: the events of one kind that meet the condition `which`. Reads channel by channel, because the index begins with
 * the channel. To save parsing, the condition may first search the JSON as text.
 */
const eventsOf = (
  kind: 'payment.status.changed' | 'order.status.changed',
  which: string,
) => `channels c cross join lateral (
    select e.channel_id, e.recorded_at from events e
    where e.channel_id = c.channel_id and (${isPayment('e')}) is ${kind === 'payment.status.changed'} and ${within('e.recorded_at')}
      and e.event_type = '${kind}' and ${which}
    offset 0) t`;

const hasStatus = (field: string, condition: (column: string) => string) => condition(`(e.data::json ->> '${field}')`);

/**
 * The source of each figure. An event counts at the time when the service learned of it, because an institution may
 * report a payment hours later, and a past hour must not change. Settlement uses the institution's times.
 */
const SOURCES: readonly Source[] = [
  {
    at: 't.created_at',
    from: `external_orders t where ${within('t.created_at')}`,
    figures: { orders_created: 'count(*)' },
  },
  {
    at: 't.recorded_at',
    from: eventsOf(
      'order.status.changed',
      hasStatus('orderStatus', (column) => orderStatusIs(column, ...ENDED_ORDER_STATUSES)),
    ),
    figures: { orders_ended: 'count(*)' },
  },
  {
    at: 't.recorded_at',
    from: eventsOf(
      'payment.status.changed',
      `e.cycle_no > 1 and e.data like '%"FAIL"%' and ${hasStatus('paymentStatus', (column) => paymentStatusIs(column, 'FAIL'))}`,
    ),
    figures: { renewals_failed: 'count(*)' },
  },
  {
    at: 't.settled_at',
    from: `debit_attempts t where ${within('t.settled_at')}`,
    figures: {
      debits_paid: `count(*) filter (where t.status = 'SUCCESS')`,
      debits_failed: `count(*) filter (where t.status = 'FAIL')`,
      paid_cent: `sum(t.amount_cent) filter (where t.status = 'SUCCESS')`,
      renewals_done: `count(*) filter (where t.status = 'SUCCESS' and t.cycle_no > 1)`,
    },
  },
  {
    at: 't.paid_at',
    from: `payments t where ${within('t.paid_at')} and ${paymentStatusIs('t.status', 'BILLED')}`,
    figures: { billed_cent: 'sum(t.amount_cent)', renewals_done: 'count(*) filter (where t.cycle_no > 1)' },
  },
  {
    at: 't.settled_at',
    from: `refunds t where ${within('t.settled_at')} and t.status = 'SUCCESS'`,
    figures: { refunds: 'count(*)', refunded_cent: 'sum(t.amount_cent)' },
  },
  {
    at: 't.at',
    from: `delivery_attempts t where ${within('t.at')}`,
    figures: {
      pushes_accepted: `count(*) filter (where t.outcome = 'ACCEPTED')`,
      pushes_failed: `count(*) filter (where t.outcome <> 'ACCEPTED')`,
    },
  },
  { at: 't.claimed_at', from: `claims t where ${within('t.claimed_at')}`, figures: { claims: 'count(*)' } },
];

const sourceSql = ({ at, from, figures }: Source) =>
  `select date_bin('1 hour', ${at}, timestamptz 'epoch') as hour, t.channel_id, ${COLUMNS.map(
    (column) => `${figures[column] ?? '0'} as ${column}`,
  ).join(', ')}
  from ${from} group by 1, 2`;

const SUMS = COLUMNS.map((column) => `coalesce(sum(${column}), 0)`).join(', ');

const DELETE_HOURS = statement({
  text: `delete from hourly_figures where ${within('hour')}`,
  parameters: ['double precision', 'double precision'],
});

const INSERT_HOURS = statement({
  text: `insert into hourly_figures (hour, channel_id, ${COLUMNS.join(', ')})
    select hour, channel_id, ${SUMS} from (
    ${SOURCES.map(sourceSql).join('\n    union all\n    ')}) happened
    group by hour, channel_id`,
  parameters: ['double precision', 'double precision'],
  byIndex: false,
});

const DELETE_DAYS = statement({
  text: `delete from daily_figures where ${within('day')}`,
  parameters: ['double precision', 'double precision'],
});

const INSERT_DAYS = statement({
  text: `insert into daily_figures (day, channel_id, ${COLUMNS.join(', ')})
    select ${inShanghaiZone(`date_trunc('day', ${inShanghaiZone('hour')})`)}, channel_id, ${SUMS}
    from hourly_figures where ${within('hour')} group by 1, 2`,
  parameters: ['double precision', 'double precision'],
});

/** Counts these hours again and replaces the earlier counts. */
export async function writeHours(tx: Queryable, { from, to }: Hours): Promise<void> {
  await tx.query(DELETE_HOURS, [from, to]);
  await tx.query(INSERT_HOURS, [from, to]);
}

/** Sums up these whole days from their hours. */
export async function writeDays(tx: Queryable, { from, to }: Hours): Promise<void> {
  await tx.query(DELETE_DAYS, [from, to]);
  await tx.query(INSERT_DAYS, [from, to]);
}

/** Counts the current orders. Reads all of them, so the job counts less often if a count takes long. */
export const countOrders: Query<[endOfToday: number], void> = declareWrite({
  text: `insert into order_counts (channel_id, active, waiting_for_retry, due_today)
    select o.channel_id, count(*) filter (where ${orderStatusIs('o.status', 'ACTIVE')}),
      count(*) filter (where ${orderStatusIs('o.status', 'ACTIVE')} and ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)}),
      count(*) filter (where o.next_due_at < ${fromEpochMs('$1')} and (o.cycle_no < o.total_cycles
        or ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)}))
    from orders o group by o.channel_id
    on conflict (channel_id) do update set active = excluded.active, waiting_for_retry = excluded.waiting_for_retry,
      due_today = excluded.due_today, counted_at = excluded.counted_at`,
  parameters: ['double precision'],
  byIndex: false,
});

/** The first key of the advisory lock, which is 'figu' in ASCII. */
const LOCK_CLASS = 0x66696775;

const LOCK_FIGURES = statement({
  text: 'select pg_try_advisory_xact_lock($1, 0) as taken',
  parameters: ['integer'],
  columns: columns({ taken: 'boolean' }),
});

/** Locks the figures until the transaction ends. Returns false if another node has locked them. */
export async function lockFigures(tx: Queryable): Promise<boolean> {
  return (await queryOne(tx, LOCK_FIGURES, [LOCK_CLASS]))?.taken === true;
}

export type FigureMarks = RowOf<typeof READ_MARKS>;

const READ_MARKS = statement({
  text: `select (select ${epochMs('m.reached_at')} from job_marks m where m.job = '${FIGURES_JOB}') as "upTo",
      (select ${epochMs('m.reached_at')} from job_marks m where m.job = '${FIGURES_SINCE_JOB}') as since,
      (select ${epochMs('min(c.created_at)')} from channels c) as "firstChannelAt"`,
  parameters: [],
  columns: columns({
    /** The time up to which the figures are complete. Null before the job first ran. */
    upTo: 'bigint?',
    /** The time from which figures exist. */
    since: 'bigint?',
    /** The time when the first channel was created. Nothing can have happened before. */
    firstChannelAt: 'bigint?',
  }),
});

export async function readMarks(db: Queryable): Promise<FigureMarks> {
  return (await queryOne(db, READ_MARKS)) ?? { upTo: null, since: null, firstChannelAt: null };
}

export const storeMark: Query<[job: typeof FIGURES_JOB | typeof FIGURES_SINCE_JOB, at: number], void> = declareWrite({
  text: `insert into job_marks (job, reached_at) values ($1, ${fromEpochMs('$2')})
    on conflict (job) do update set reached_at = excluded.reached_at`,
  parameters: ['text', 'double precision'],
});
