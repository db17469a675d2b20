import type { Queryable } from '../db/database.js';
import { DUE_COLUMNS, type DueEvent } from './due-sql.js';
import type { HeldShard } from './shards-sql.js';

export type DeliveryOutcome = 'ACCEPTED' | 'REFUSED' | 'TIMEOUT' | 'UNREACHABLE' | 'FORBIDDEN';

/** One push that is over. */
export interface Pushed {
  readonly due: DueEvent;
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  /** When it was over, Unix milliseconds of this node; unset: the database's clock. */
  readonly at?: number | undefined;
  readonly answer: string | null;
  /** Seconds until the next push; unset: there is none. */
  readonly againIn?: number | undefined;
}

/**
 * Writes down how a batch of pushes ended: due rows deleted, attempts added, what failed put off or given up. All of it only
 * for shards that this node still holds under the same epoch: whoever took one over will send again, and says so then.
 */
const FINISH = {
  name: 'finish-deliveries',
  text: `
with held as materialized (
  select s.shard from delivery_shards s join unnest($1::smallint[], $2::bigint[]) as h(shard, epoch)
    on s.shard = h.shard and s.epoch = h.epoch
  for key share of s
), pushed as materialized (
  select p.*, coalesce(to_timestamp(p.at / 1000), clock_timestamp()) as ended_at
  from unnest($3::smallint[], $4::timestamptz[], $5::bigint[], $6::integer[], $7::bigint[], $8::text[], $9::smallint[],
    $10::integer[], $11::double precision[], $12::text[], $13::integer[])
    as p(shard, next_at, event_no, cycle_no, channel_id, outcome, http_status, latency_ms, at, answer, again_in)
  where p.shard in (select shard from held)
), gone as (
  delete from due_events d using pushed p
  where d.shard = p.shard and d.next_at = p.next_at and d.event_no = p.event_no and d.cycle_no = p.cycle_no
  returning d.*
), attempts as (
  insert into delivery_attempts (channel_id, event_no, cycle_no, retry_no, http_status, latency_ms, at, outcome, answer)
  select p.channel_id, p.event_no, p.cycle_no, g.retry_no, p.http_status, p.latency_ms, p.ended_at, p.outcome, p.answer
  from pushed p join gone g using (shard, next_at, event_no, cycle_no)
), again as (
  insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at,
    step, retry_no)
  select g.shard, p.ended_at + p.again_in * interval '1 s', g.event_no, g.cycle_no, g.channel_id, g.order_no, g.is_payment,
    g.cycle_to, g.recorded_at, g.step + 1, g.retry_no + 1
  from pushed p join gone g using (shard, next_at, event_no, cycle_no) where p.again_in is not null
), given_up as (
  insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no,
    reason)
  select g.channel_id, g.event_no, g.cycle_no, g.cycle_to, g.order_no, g.is_payment, g.recorded_at, g.retry_no, 'GIVE_UP'
  from pushed p join gone g using (shard, next_at, event_no, cycle_no)
  where p.again_in is null and p.outcome <> 'ACCEPTED'
  on conflict (channel_id, event_no, cycle_no) do update set retry_no = excluded.retry_no, since = now(),
    reason = excluded.reason
  returning channel_id
)
select channel_id as "channelId", count(*)::integer as "givenUp" from given_up group by channel_id`,
};

export interface GivenUp {
  readonly channelId: number;
  readonly givenUp: number;
}

export async function finishPushes(
  db: Queryable,
  held: readonly HeldShard[],
  pushed: readonly Pushed[],
): Promise<GivenUp[]> {
  return db.query<GivenUp>(FINISH, [
    held.map((one) => one.shard),
    held.map((one) => one.epoch),
    pushed.map((one) => one.due.shard),
    pushed.map((one) => one.due.nextAt),
    pushed.map((one) => one.due.eventNo),
    pushed.map((one) => one.due.cycleNo),
    pushed.map((one) => one.due.channelId),
    pushed.map((one) => one.outcome),
    pushed.map((one) => one.httpStatus),
    pushed.map((one) => one.latencyMs),
    pushed.map((one) => one.at ?? null),
    pushed.map((one) => one.answer),
    pushed.map((one) => one.againIn ?? null),
  ]);
}

/** Events of a channel that has no address for them: kept, and sent by a replay once there is one. */
export async function putAside(db: Queryable, held: HeldShard, due: readonly DueEvent[]): Promise<void> {
  await db.query(
    `with held as (
       select from delivery_shards where shard = $1 and epoch = $2 for key share
     ), gone as (
       delete from due_events d using unnest($3::timestamptz[], $4::bigint[], $5::integer[]) as k(next_at, event_no, cycle_no)
       where d.shard = $1 and d.next_at = k.next_at and d.event_no = k.event_no and d.cycle_no = k.cycle_no
         and exists (select from held)
       returning d.*
     )
     insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no,
       reason)
     select channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no, 'NO_CALLBACK' from gone
     on conflict (channel_id, event_no, cycle_no) do nothing`,
    [held.shard, held.epoch, due.map((d) => d.nextAt), due.map((d) => d.eventNo), due.map((d) => d.cycleNo)],
  );
}

/** A range of voided periods becomes rows of its own, so many at a time; what is left of it stays a range behind them. */
export async function expandRange(db: Queryable, held: HeldShard, range: DueEvent, most: number): Promise<DueEvent[]> {
  return db.query<DueEvent>(
    `with held as (
       select from delivery_shards where shard = $1 and epoch = $2 for key share
     ), gone as (
       delete from due_events d where d.shard = $1 and d.next_at = $3::timestamptz and d.event_no = $4 and d.cycle_no = $5
         and d.cycle_to is not null and exists (select from held)
       returning d.*
     )
     insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at,
       step, retry_no)
     select g.shard, g.next_at, g.event_no, c.cycle_no, g.channel_id, g.order_no, g.is_payment, c.cycle_to, g.recorded_at,
       g.step, g.retry_no
     from gone g, lateral (
       select n as cycle_no, null::integer as cycle_to
         from generate_series(g.cycle_no, least(g.cycle_to, g.cycle_no + $6::integer - 1)) n
       union all
       select g.cycle_no + $6::integer, g.cycle_to where g.cycle_no + $6::integer <= g.cycle_to) c
     returning ${DUE_COLUMNS('due_events')}`,
    [held.shard, held.epoch, range.nextAt, range.eventNo, range.cycleNo, most],
  );
}
