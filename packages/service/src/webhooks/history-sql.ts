import type { DeliveryStatus, EventType } from '@perennial/wire';
import type { Queryable } from '../db/database.js';
import { written } from '../db/time-sql.js';

/** An event and what has become of it so far. A range of voided periods is one of these. */
export interface EventRow {
  readonly eventNo: number;
  readonly cycleNo: number | null;
  readonly cycleTo: number | null;
  readonly eventType: EventType;
  readonly orderNo: number;
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly data: string;
  readonly deliveryStatus: DeliveryStatus;
  readonly pushes: number;
  readonly lastPushAt: string | null;
}

/**
 * Nothing of it is in the busy table, which is not made for such questions: what was accepted is in the attempts, what is
 * not sent any more is a row of its own, and the rest is still to be sent.
 */
const COLUMNS = `e.event_no as "eventNo", e.cycle_no as "cycleNo", e.cycle_to as "cycleTo", e.event_type as "eventType",
  e.order_no as "orderNo", ${written('e.occurred_at')} as "occurredAt", ${written('e.recorded_at')} as "recordedAt", e.data,
  a.pushes, ${written('a.last_at')} as "lastPushAt",
  coalesce(
    (select u.reason from undelivered_events u where u.channel_id = e.channel_id and u.event_no = e.event_no limit 1),
    case when a.accepted >= coalesce(e.cycle_to - e.cycle_no + 1, 1) then 'DELIVERED' else 'PENDING' end)
    as "deliveryStatus"`;
const FROM = `events e, lateral (
  select count(*)::integer as pushes, max(t.at) as last_at,
    count(distinct t.cycle_no) filter (where t.outcome = 'ACCEPTED') as accepted
  from delivery_attempts t where t.channel_id = e.channel_id and t.event_no = e.event_no and t.at >= e.recorded_at) a`;

export interface EventFilter {
  readonly orderNo?: number | undefined;
  readonly eventType?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** As the interface writes times; by when the event was written. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Newest first. */
export async function listEvents(
  db: Queryable,
  channelId: number,
  filter: EventFilter,
  limit: number,
  offset: number,
): Promise<EventRow[]> {
  return db.query<EventRow>(
    `select * from (select ${COLUMNS} from ${FROM}
       where e.channel_id = $1 and ($2::bigint is null or e.order_no = $2) and ($3::text is null or e.event_type = $3)
         and ($4::timestamptz is null or e.recorded_at >= $4) and ($5::timestamptz is null or e.recorded_at < $5)
       order by e.event_no desc) shown
     where $6::text is null or "deliveryStatus" = $6
     order by "eventNo" desc limit $7 offset $8`,
    [
      channelId,
      filter.orderNo ?? null,
      filter.eventType ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.status ?? null,
      limit,
      offset,
    ],
  );
}

export async function findEvent(db: Queryable, channelId: number, eventNo: number): Promise<EventRow | undefined> {
  const [event] = await db.query<EventRow>(
    `select ${COLUMNS} from ${FROM} where e.channel_id = $1 and e.event_no = $2`,
    [channelId, eventNo],
  );
  return event;
}

export interface Push {
  readonly eventId: string;
  readonly retryNo: number;
  readonly at: string;
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  readonly answer: string | null;
}

/** Every push of one event, in the order of time; of a range, those of one period or of all. */
export async function listPushes(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: { readonly eventNo: number; readonly cycleNo: number | undefined },
): Promise<Push[]> {
  return db.query<Push>(
    `select event_no || case when cycle_no = 0 then '' else '-' || cycle_no end as "eventId", retry_no as "retryNo",
       ${written('at')} as at, outcome, http_status as "httpStatus", latency_ms as "latencyMs", answer
     from delivery_attempts where channel_id = $1 and event_no = $2 and ($3::integer is null or cycle_no = $3)
     order by cycle_no, at limit 1000`,
    [channelId, eventNo, cycleNo ?? null],
  );
}
