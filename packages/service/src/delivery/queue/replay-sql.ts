import {
  columns,
  declareRequire,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import { fromEpochMs } from '../../platform/db/time-sql.js';
import type { EventReference } from '../event-id.js';
import { isNotice } from '../event-type-sql.js';
import { allAttempts, type EventKeySql, isPayment, keyOfEvent } from '../history/attempts-sql.js';
import type { InstantRange } from '../history/time-range.js';
import { SHARDS } from './shards-sql.js';

const REPLAYS = 5_700_002;

/**
 * Locks the replays of a channel, so that they run one after another: each replay sees the rows of the previous replay,
 * and two replays cannot deadlock.
 */
const lockReplays = declareWrite({
  text: `select pg_advisory_xact_lock(${REPLAYS}, hashint8($1))`,
  parameters: ['bigint'],
});

/** Returns false, without waiting, if another replay of the channel is running on any node. */
export const tryLockReplays = declareRequire({
  text: `select pg_try_advisory_xact_lock(${REPLAYS}, hashint8($1)) as taken`,
  parameters: ['bigint'],
  columns: columns({ taken: 'boolean' }),
  value: ({ taken }) => taken,
});

/** Keeps retry_no within smallint, with room for the retries of one more schedule. */
const HIGHEST_RETRY_NO = 32_000;

export type ReplayedEvents = RowOf<typeof REPLAY_EVENTS>;

const LOCK_RETRIES = statement({
  text: `select from events e join due_events d on ${isDueRowOf('d', keyOfEvent('e'))}
     where e.channel_id = $1 and e.event_no = any($2::bigint[]) and d.step > 0
     order by d.next_at, d.event_no, d.cycle_no for update of d`,
  parameters: ['bigint', 'bigint[]'],
});

/**
 * Locks the due rows of retries, so that an outcome is stored either before or after the replay. So no outcome gives up
 * a replayed event. Locks in the same order as `finishPushes`, so that a replay and `finishPushes` cannot deadlock.
 */
async function lockRetries(tx: Queryable, channelId: number, references: readonly EventReference[]): Promise<void> {
  await tx.query(LOCK_RETRIES, [channelId, references.map((r) => r.eventNo)]);
}

/**
 * Sends events again from the first step of the schedule, with the same eventId and a continued retryNo. Pending events
 * are only brought forward: their due rows are not replaced, because a node may be sending them.
 *
 * The periods of an event are treated as a range of numbers. An event without periods has the range of the number 0
 * only. Each part of a range can be waiting, undelivered or done. Only parts that are not waiting are queued, and only
 * the requested parts are removed from undelivered_events.
 */
export async function replayEvents(
  tx: Queryable,
  channelId: number,
  references: readonly EventReference[],
): Promise<ReplayedEvents> {
  await lockReplays(tx, channelId);
  await lockRetries(tx, channelId, references);
  const [row] = await tx.query(REPLAY_EVENTS, [
    channelId,
    references.map((r) => r.eventNo),
    references.map((r) => r.cycleNo ?? null),
  ]);
  return row ?? { found: 0, replayed: 0 };
}

/** SQL: the key of a requested event of channel $1. */
const FOUND: EventKeySql = {
  channelId: '$1',
  isPayment: 'f.is_payment',
  recordedAt: 'f.recorded_at',
  eventNo: 'f.event_no',
};

export function isDueRowOf(d: string, { channelId, isPayment: kind, recordedAt, eventNo }: EventKeySql): string {
  return `${d}.channel_id = ${channelId} and ${d}.is_payment = ${kind} and ${d}.recorded_at = ${recordedAt}
    and ${d}.event_no = ${eventNo}`;
}

const isLater = (row: string) => `${row}.next_at > clock_timestamp() + interval '1 s'`;

const REPLAY_EVENTS = statement({
  text: `with asked as (
       select distinct r.event_no, r.cycle_no from unnest($2::bigint[], $3::integer[]) as r(event_no, cycle_no)
     ), found as materialized (
       select e.event_no, e.order_no, ${isPayment('e')} as is_payment, ${isNotice('e')} as is_notice, e.recorded_at,
         count(*) as named, range_agg(case
           when e.cycle_to is null then int4range(0, 1)
           when a.cycle_no is null then int4range(e.cycle_no, e.cycle_to + 1)
           else int4range(a.cycle_no, a.cycle_no + 1) end) as wanted
       from asked a join events e on e.channel_id = $1 and e.event_no = a.event_no
       where a.cycle_no is null or a.cycle_no between e.cycle_no and e.cycle_to
       group by e.event_no, e.order_no, e.event_type, e.recorded_at
     ), waiting as materialized (
       select f.event_no, f.wanted, d.next_at, d.cycle_no, ${span('d')} as span
       from found f join due_events d on ${isDueRowOf('d', FOUND)}
     ), forward as (
       update due_events d set next_at = case when ${isLater('d')} then statement_timestamp() else d.next_at end, step = 0,
         retry_no = least(d.retry_no, ${HIGHEST_RETRY_NO})
       from waiting w where d.shard = ($1 % ${SHARDS})::smallint and d.next_at = w.next_at and d.event_no = w.event_no
         and d.cycle_no = w.cycle_no and w.span && w.wanted and (d.step > 0 or ${isLater('d')})
     ), back as (
       delete from undelivered_events u using found f
       where u.channel_id = $1 and u.event_no = f.event_no and ${span('u')} && f.wanted
       returning u.*, f.wanted
     ), others as (
       insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at,
         retry_no, reason, since)
       select b.channel_id, b.event_no, lower(s), ${lastOf('s')}, b.order_no, b.is_payment, b.is_notice, b.recorded_at,
         b.retry_no, b.reason, b.since
       from back b, unnest(int4multirange(${span('b')}) - b.wanted) s
     ), again as (
       insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to,
         recorded_at, retry_no)
       select $1 % ${SHARDS}, statement_timestamp(), f.event_no, lower(s), $1, f.order_no, f.is_payment, f.is_notice,
         ${lastOf('s')}, f.recorded_at, least(coalesce((select max(t.retry_no) + 1 from ${allAttempts(FOUND)} t where t.cycle_no <@ s), 0), ${HIGHEST_RETRY_NO})
       from found f, unnest(f.wanted - coalesce(
         (select range_agg(w.span) from waiting w where w.event_no = f.event_no), '{}')) s
     )
     select coalesce(sum(named), 0)::integer as found,
       coalesce(sum((select sum(upper(s) - lower(s)) from unnest(wanted) s)), 0)::integer as replayed
     from found`,
  parameters: ['bigint', 'bigint[]', 'integer[]'],
  columns: columns({
    /** The number of references that are events of the channel. */
    found: 'integer',
    /** The number of events that are sent again. Each period of a voided range counts as one. */
    replayed: 'integer',
  }),
});

function span(row: string): string {
  return `int4range(${row}.cycle_no, coalesce(${row}.cycle_to, ${row}.cycle_no) + 1)`;
}

/** SQL: the last period of a range, or null if the range is a single period. */
function lastOf(range: string): string {
  return `case when upper(${range}) - lower(${range}) > 1 then upper(${range}) - 1 end`;
}

/** The last row that a bulk replay has replayed. */
export interface ReplayPosition {
  readonly eventNo: number;
  readonly cycleNo: number;
}

export interface ReplayStep {
  readonly replayed: number;
  /** Undefined if no event is left to replay. */
  readonly next: ReplayPosition | undefined;
}

const REPLAY_UNDELIVERED = statement({
  text: `with chosen as materialized (
       select * from undelivered_events where channel_id = $1 and (event_no, cycle_no) > ($5::bigint, $6::integer)
         and recorded_at >= coalesce(${fromEpochMs('$2')}, '-infinity') and recorded_at < coalesce(${fromEpochMs('$3')}, 'infinity')
       order by event_no, cycle_no limit $4 for update
     ), back as (
       delete from undelivered_events u using chosen c
       where u.channel_id = $1 and u.event_no = c.event_no and u.cycle_no = c.cycle_no
     ), again as (
       insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to,
         recorded_at, retry_no)
       select channel_id % ${SHARDS}, statement_timestamp(), event_no, cycle_no, channel_id, order_no, is_payment, is_notice,
         cycle_to, recorded_at, least(case when reason = 'GIVE_UP' then retry_no + 1 else retry_no end, ${HIGHEST_RETRY_NO})
       from chosen
     )
     select event_no as "eventNo", cycle_no as "cycleNo", coalesce(cycle_to - cycle_no, 0) + 1 as events
     from chosen order by event_no, cycle_no`,
  parameters: ['bigint', 'double precision', 'double precision', 'bigint', 'bigint', 'integer'],
  columns: columns({ eventNo: 'bigint', cycleNo: 'integer', events: 'integer' }),
});

/**
 * Replays events that are no longer sent and were written within a time range. Takes `limit` rows per step, so that
 * locks are short. Each step continues after the previous step, so that no event is replayed twice.
 */
export async function replayUndelivered(
  tx: Queryable,
  channelId: number,
  range: InstantRange,
  limit: number,
  after: ReplayPosition = { eventNo: 0, cycleNo: 0 },
): Promise<ReplayStep> {
  await lockReplays(tx, channelId);
  const rows = await tx.query(REPLAY_UNDELIVERED, [
    channelId,
    range.from ?? null,
    range.to ?? null,
    limit,
    after.eventNo,
    after.cycleNo,
  ]);
  return {
    replayed: rows.reduce((sum, { events }) => sum + events, 0),
    next: rows.length < limit ? undefined : rows.at(-1),
  };
}
