import type { Queryable } from '../db/database.js';
import type { EventReference } from './event-id.js';

/**
 * Sends events again, from the first step of the schedule, under the same eventId and with retryNo counted on. What is still
 * to be sent is only brought forward. How many events that were; one that is not the channel's counts as none.
 */
export async function replayEvents(
  tx: Queryable,
  channelId: number,
  references: readonly EventReference[],
): Promise<number> {
  const [row] = await tx.query<{ replayed: number }>(
    `with asked as (
       select distinct r.event_no, r.cycle_no from unnest($2::bigint[], $3::integer[]) as r(event_no, cycle_no)
     ), found as (
       select e.event_no, e.order_no, e.event_type = 'payment.status.changed' as is_payment, e.recorded_at,
         coalesce(a.cycle_no, case when e.cycle_to is null then 0 else e.cycle_no end) as cycle_no,
         case when a.cycle_no is null then e.cycle_to end as cycle_to
       from asked a join events e on e.channel_id = $1 and e.event_no = a.event_no
       where a.cycle_no is null or a.cycle_no between e.cycle_no and e.cycle_to
     ), forward as (
       update due_events d set next_at = now()
       from found f where d.shard = $1 % 16 and d.event_no = f.event_no and d.next_at > now() + interval '1 s'
         and (f.cycle_to is not null or d.cycle_no = f.cycle_no)
       returning d.event_no, d.cycle_no
     ), back as (
       delete from undelivered_events u using found f
       where u.channel_id = $1 and u.event_no = f.event_no and (f.cycle_to is not null or u.cycle_no = f.cycle_no)
     ), again as (
       insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at,
         retry_no)
       select $1 % 16, now(), f.event_no, f.cycle_no, $1, f.order_no, f.is_payment, f.cycle_to, f.recorded_at,
         coalesce((select max(t.retry_no) + 1 from delivery_attempts t where t.channel_id = $1 and t.event_no = f.event_no
           and (f.cycle_to is not null or t.cycle_no = f.cycle_no)), 0)
       from found f where not exists (select from due_events d where d.shard = $1 % 16 and d.event_no = f.event_no
         and (f.cycle_to is not null or d.cycle_no = f.cycle_no))
     )
     select count(*)::integer as replayed from found`,
    [channelId, references.map((r) => r.eventNo), references.map((r) => r.cycleNo ?? null)],
  );
  return row?.replayed ?? 0;
}

/** Everything of a channel that is not sent any more, by when it was given up. In steps, so that locks are short. */
export async function replayUndelivered(
  tx: Queryable,
  channelId: number,
  range: { readonly from?: string | undefined; readonly to?: string | undefined },
  limit: number,
): Promise<number> {
  const rows = await tx.query(
    `with back as (
       delete from undelivered_events where ctid = any(array(
         select ctid from undelivered_events where channel_id = $1 and ($2::timestamptz is null or since >= $2)
           and ($3::timestamptz is null or since < $3) order by event_no, cycle_no limit $4 for update skip locked))
       returning *
     )
     insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at,
       retry_no)
     select channel_id % 16, now(), event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at,
       case when reason = 'GIVE_UP' then retry_no + 1 else retry_no end
     from back order by event_no, cycle_no returning 1`,
    [channelId, range.from ?? null, range.to ?? null, limit],
  );
  return rows.length;
}
