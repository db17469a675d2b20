import { toArrayText } from '../../platform/db/array-text.js';
import { columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { PUSH_RETRY_DELAYS_SECONDS } from '../schedule.js';
import { DUE_COLUMNS, DUE_ROW, type DueEvent, isBefore } from './due-sql.js';
import type { HeldShard } from './shards-sql.js';

export type DeliveryOutcome = 'ACCEPTED' | 'REFUSED' | 'TIMEOUT' | 'UNREACHABLE' | 'FORBIDDEN';

export interface PushOutcome {
  /** The shard, with the epoch that it had when the push began. */
  readonly shard: HeldShard;
  readonly due: DueEvent;
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  /**
   * When the push ended, by `performance.now()`. The stored time is by the database's clock: its current time minus the
   * time that has passed since the push ended.
   */
  readonly endedAt: number;
  /** For tests: replaces `endedAt`, the time when the push ended. In Unix milliseconds. */
  readonly at?: number | undefined;
  readonly answer: string | null;
  /** True if the event can never be sent. It is then given up regardless of the schedule. */
  readonly isHopeless?: boolean;
}

/**
 * Stores the outcomes of a batch: deletes due rows, adds attempts, and schedules retries or gives events up. Skips
 * shards whose epoch has changed since the push began, because the node that now holds the shard pushes the event again
 * and stores that outcome. The statement locks the shards, so that no other node can take them before the commit. The
 * retry step is read from the row, because the event may have been replayed while the push was in flight.
 *
 * `wait` waits up to 1 s for locked rows. `skip` skips them, which costs more and delays no other outcome.
 */
const finish = (locked: 'wait' | 'skip') =>
  statement({
    name: locked === 'wait' ? 'finish-deliveries' : 'finish-free-deliveries',
    text: `
with patience as materialized (
  select set_config('lock_timeout', '1s', true)
), held as materialized (
  select h.place, s.shard from patience cross join delivery_shards s
    join unnest($1::smallint[], $2::bigint[]) with ordinality as h(shard, epoch, place)
    on s.shard = h.shard and s.epoch = h.epoch
  for share of s ${locked === 'wait' ? '' : 'skip locked'}
), pushed as materialized (
  select h.shard, p.*, coalesce(to_timestamp(p.at / 1000), clock_timestamp() - p.ago_ms * interval '1 ms') as ended_at
  from unnest($3::integer[], $4::timestamptz[], $5::bigint[], $6::integer[], $7::delivery_outcome[], $8::smallint[],
    $9::integer[], $10::double precision[], $11::double precision[], $12::text[], $13::boolean[])
    as p(place, next_at, event_no, cycle_no, outcome, http_status, latency_ms, ago_ms, at, answer, is_hopeless)
  join held h using (place)
)${
      locked === 'wait'
        ? ''
        : `, free as materialized (
  select d.shard, d.next_at, d.event_no, d.cycle_no from due_events d join pushed p
    on d.shard = p.shard and d.next_at = p.next_at and d.event_no = p.event_no and d.cycle_no = p.cycle_no
  for update of d skip locked
)`
    }, gone as (
  delete from due_events d using pushed p ${locked === 'wait' ? '' : 'join free using (shard, next_at, event_no, cycle_no)'}
  where d.shard = p.shard and d.next_at = p.next_at and d.event_no = p.event_no and d.cycle_no = p.cycle_no
  returning d.*, p.outcome, p.http_status, p.latency_ms, p.ended_at, p.answer,
    case when p.outcome <> 'ACCEPTED' and not p.is_hopeless
      then (array[${PUSH_RETRY_DELAYS_SECONDS.join()}])[d.step + 1] end as again_in
), attempts as (
  insert into delivery_attempts (channel_id, event_no, recorded_at, is_payment, is_notice, cycle_no, retry_no, http_status,
    latency_ms, at, outcome, answer)
  select g.channel_id, g.event_no, g.recorded_at, g.is_payment, g.is_notice, g.cycle_no, g.retry_no, g.http_status,
    least(g.latency_ms, 32767), g.ended_at, g.outcome, g.answer
  from gone g
), again as (
  insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to,
    recorded_at, step, retry_no)
  select g.shard, g.ended_at + g.again_in * interval '1 s', g.event_no, g.cycle_no, g.channel_id, g.order_no, g.is_payment,
    g.is_notice, g.cycle_to, g.recorded_at, g.step + 1, g.retry_no + 1
  from gone g where g.again_in is not null
), given_up as (
  insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at,
    retry_no, reason)
  select g.channel_id, g.event_no, g.cycle_no, g.cycle_to, g.order_no, g.is_payment, g.is_notice, g.recorded_at,
    g.retry_no, 'GIVE_UP'
  from gone g where g.again_in is null and g.outcome <> 'ACCEPTED'
  on conflict (channel_id, event_no, cycle_no) do update set retry_no = excluded.retry_no, since = now(),
    reason = excluded.reason
  returning channel_id
)
select c.app_id as "appId", g.count from (
  select channel_id, count(*)::integer as count from given_up group by channel_id) g join channels c using (channel_id)`,
    parameters: [
      'smallint[]',
      'bigint[]',
      'integer[]',
      'timestamp with time zone[]',
      'bigint[]',
      'integer[]',
      'delivery_outcome[]',
      'smallint[]',
      'integer[]',
      'double precision[]',
      'double precision[]',
      'text[]',
      'boolean[]',
    ],
    columns: columns({ appId: 'text', count: 'integer' }),
  });
const FINISH = finish('wait');
const FINISH_FREE = finish('skip');

const byKey = ({ due: one }: PushOutcome, { due: other }: PushOutcome) => (isBefore(one, other) ? -1 : 1);

/** The number of events of a channel that were given up in one batch. */
export type GivenUp = RowOf<typeof FINISH>;

/** Stores outcomes. If `skipLocked`, skips rows that another transaction has locked; `findUnfinished` returns them. */
export async function finishPushes(
  db: Queryable,
  ended: readonly PushOutcome[],
  skipLocked = false,
): Promise<GivenUp[]> {
  // A replay locks the rows of retries too. This statement and a replay both lock in the order of the keys, so they
  // cannot deadlock.
  const pushed = ended.some(({ due }) => due.step > 0) ? ended.toSorted(byKey) : ended;
  const held = [...new Set(pushed.map(({ shard }) => shard))];
  const places = new Map(held.map((shard, index) => [shard, index + 1]));
  const now = performance.now();
  return db.query(skipLocked ? FINISH_FREE : FINISH, [
    held.map((one) => one.shard),
    held.map((one) => one.epoch),
    toArrayText(pushed, (one) => places.get(one.shard)),
    toArrayText(pushed, (one) => one.due.nextAt),
    toArrayText(pushed, (one) => one.due.eventNo),
    toArrayText(pushed, (one) => one.due.cycleNo),
    toArrayText(pushed, (one) => one.outcome),
    toArrayText(pushed, (one) => one.httpStatus),
    toArrayText(pushed, (one) => one.latencyMs),
    toArrayText(pushed, (one) => now - one.endedAt),
    toArrayText(pushed, (one) => one.at),
    pushed.map((one) => one.answer),
    toArrayText(pushed, (one) => (one.isHopeless ? 't' : 'f')),
  ]);
}

const FIND_UNFINISHED = statement({
  text: `select p.n::integer from unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::bigint[], $5::integer[])
         with ordinality as p(shard, epoch, next_at, event_no, cycle_no, n)
       join delivery_shards using (shard, epoch) join due_events using (shard, next_at, event_no, cycle_no)`,
  parameters: ['smallint[]', 'bigint[]', 'timestamp with time zone[]', 'bigint[]', 'integer[]'],
  columns: columns({ n: 'integer' }),
});

/** Returns the pushes whose outcomes were skipped, because another transaction had locked their rows. */
export async function findUnfinished<One extends PushOutcome>(db: Queryable, ended: readonly One[]): Promise<One[]> {
  const rows = await db.query(FIND_UNFINISHED, [
    ended.map(({ shard }) => shard.shard),
    ended.map(({ shard }) => shard.epoch),
    ended.map(({ due }) => due.nextAt),
    ended.map(({ due }) => due.eventNo),
    ended.map(({ due }) => due.cycleNo),
  ]);
  return rows.flatMap(({ n }) => ended[n - 1] ?? []);
}

const PUT_ASIDE = statement({
  text: `with held as (
       select from delivery_shards where shard = $1 and epoch = $2 for share skip locked
     ), free as materialized (
       select d.next_at, d.event_no, d.cycle_no
       from unnest($3::timestamptz[], $4::bigint[], $5::integer[]) as k(next_at, event_no, cycle_no)
         join due_events d on d.shard = $1 and d.next_at = k.next_at and d.event_no = k.event_no and d.cycle_no = k.cycle_no
       where exists (select from held) and exists (select from channels where channel_id = $6 and version = $7)
       for update of d skip locked
     ), gone as (
       delete from due_events d using free f
       where d.shard = $1 and d.next_at = f.next_at and d.event_no = f.event_no and d.cycle_no = f.cycle_no
       returning d.*
     )
     insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at,
       retry_no, reason)
     select channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at, retry_no, 'NO_CALLBACK'
     from gone
     on conflict (channel_id, event_no, cycle_no) do update set retry_no = excluded.retry_no, since = now(),
       reason = excluded.reason
     returning 1`,
  parameters: ['smallint', 'bigint', 'timestamp with time zone[]', 'bigint[]', 'integer[]', 'bigint', 'bigint'],
});

/**
 * Moves events for which a channel has no address to undelivered_events. A replay sends them when the channel has an
 * address. Does nothing if this node has lost the shard, or if the channel's version has changed, because the channel
 * may just have got an address. Skips locked rows. Returns the number of rows moved.
 */
export async function setAsideWithoutAddress(
  db: Queryable,
  held: HeldShard,
  channel: { readonly channelId: number; readonly version: number },
  due: readonly DueEvent[],
): Promise<number> {
  const rows = await db.query(PUT_ASIDE, [
    held.shard,
    held.epoch,
    due.map((one) => one.nextAt),
    due.map((one) => one.eventNo),
    due.map((one) => one.cycleNo),
    channel.channelId,
    channel.version,
  ]);
  return rows.length;
}

const EXPAND_RANGE = statement({
  text: `with held as (
       select from delivery_shards where shard = $1 and epoch = $2 for share
     ), gone as (
       delete from due_events d where d.shard = $1 and d.next_at = $3::timestamptz and d.event_no = $4 and d.cycle_no = $5
         and d.cycle_to is not null and exists (select from held)
       returning d.*
     )
     insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to,
       recorded_at, step, retry_no)
     select g.shard, g.next_at, g.event_no, c.cycle_no, g.channel_id, g.order_no, g.is_payment, g.is_notice, c.cycle_to,
       g.recorded_at, g.step, g.retry_no
     from gone g, lateral (
       select n as cycle_no, null::integer as cycle_to
         from generate_series(g.cycle_no, least(g.cycle_to, g.cycle_no + $6::integer - 1)) n
       union all
       select g.cycle_no + $6::integer, g.cycle_to where g.cycle_no + $6::integer <= g.cycle_to) c
     returning ${DUE_COLUMNS('due_events')}`,
  parameters: ['smallint', 'bigint', 'timestamp with time zone', 'bigint', 'integer', 'integer'],
  columns: DUE_ROW,
});

/**
 * Expands the first `max` periods of a range into rows. The remaining periods stay one row, which comes after the
 * expanded rows.
 */
export async function expandRange(db: Queryable, held: HeldShard, range: DueEvent, max: number): Promise<DueEvent[]> {
  return db.query(EXPAND_RANGE, [held.shard, held.epoch, range.nextAt, range.eventNo, range.cycleNo, max]);
}
