import { FIGURES_JOB } from '../../figures/figures.js';
import { columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { declareRequire, type Query } from '../../platform/db/declared.js';
import { fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';

/** The state of the installation at this moment. Times are formatted as in the API. */
export type StandingNow = RowOf<typeof STANDING_NOW_COLUMNS>;

/** Maximum counts. Higher numbers would tell operators nothing more. */
const MAX_EVENTS = 100_000;
const MAX_ALERTS = 10_000;
const MAX_UNSETTLED = 100_000;

const STANDING_NOW_COLUMNS = columns({
  /** When orders were last counted. Installations with very many orders count rarely. Null before the first count. */
  ordersCountedAt: 'text?',
  activeOrders: 'integer',
  waitingForRetry: 'integer',
  /** The number of orders that have a debit or a refund without a final result. */
  unsettledOrders: 'integer',
  /** When the oldest debit or refund without a final result began. */
  oldestUnsettledAt: 'text?',
  renewalsDueToday: 'integer',
  renewalsDoneToday: 'integer',
  eventsWaiting: 'integer',
  eventsGivenUp: 'integer',
  oldestEventAt: 'text?',
  openAlerts: 'integer',
  approvalsWaiting: 'integer',
});

/** Debits and refunds without a final result. Both tables have a partial index on `ask_at`. */
const UNSETTLED_SQL = `select d.order_no, d.channel_id, d.started_at from debit_attempts d where d.ask_at is not null
  union all select r.order_no, r.channel_id, r.started_at from refunds r where r.ask_at is not null`;

/** `$1`: the channel, or null for all; `$2`: the start of today. Reads channel by channel, to use the indexes. */
export const readStandingNow: Query<[channelId: number | undefined, startOfToday: number], StandingNow> =
  declareRequire({
    text: `with asked as (select c.channel_id from channels c where $1::bigint is null or c.channel_id = $1)
    select ${shanghaiText('n.counted_at')} as "ordersCountedAt", n.active::integer as "activeOrders", n.waiting::integer as "waitingForRetry", n.due::integer as "renewalsDueToday",
      (select coalesce(sum(f.renewals_done), 0)::integer from hourly_figures f join asked using (channel_id)
       where f.hour >= ${fromEpochMs('$2')}) as "renewalsDoneToday",
      u.orders as "unsettledOrders", u.oldest as "oldestUnsettledAt",
      (select count(*)::integer from (
        select from asked a, lateral (select from due_events d where d.channel_id = a.channel_id limit ${MAX_EVENTS}) d
        limit ${MAX_EVENTS}) d) as "eventsWaiting",
      (select count(*)::integer from (
        select from asked a, lateral (
          select from undelivered_events u where u.channel_id = a.channel_id and u.reason = 'GIVE_UP' limit ${MAX_EVENTS}) u
        limit ${MAX_EVENTS}) u) as "eventsGivenUp",
      (select ${shanghaiText('min(d.recorded_at)')} from asked a, unnest(array[true, false]) as k(is_payment), lateral (
        select d.recorded_at from due_events d where d.channel_id = a.channel_id and d.is_payment = k.is_payment
        order by d.recorded_at limit 1) d) as "oldestEventAt",
      (select count(*)::integer from (
        select from alerts where acknowledged_at is null and resolved_at is null limit ${MAX_ALERTS}) a) as "openAlerts",
      (select count(*)::integer from approvals where status = 'WAITING') as "approvalsWaiting"
    from (
      select coalesce(sum(o.active), 0) as active, coalesce(sum(o.waiting_for_retry), 0) as waiting,
        coalesce(sum(o.due_today), 0) as due, min(o.counted_at) as counted_at
      from order_counts o join asked using (channel_id)) n, (
      select count(distinct o.order_no)::integer as orders, ${shanghaiText('min(o.started_at)')} as oldest
      from (select * from (${UNSETTLED_SQL}) o join asked using (channel_id) limit ${MAX_UNSETTLED}) o) u`,
    parameters: ['bigint?', 'double precision'],
    // Always uses indexes, because the planner's statistics may date from when the queue was empty.
    byIndex: true,
    columns: STANDING_NOW_COLUMNS,
  });

const READ_AS_OF = statement({
  text: `select ${shanghaiText('m.reached_at')} as "asOf" from job_marks m where m.job = '${FIGURES_JOB}'`,
  parameters: [],
  columns: columns({ asOf: 'text' }),
});

/** Returns the time up to which the figures are counted. Null before the first count. */
export async function readAsOf(db: Queryable): Promise<string | null> {
  return (await queryOne(db, READ_AS_OF))?.asOf ?? null;
}
