import type { DeliveryStatus, EventType } from '@perennial/wire';
import type { Queryable } from '../db/database.js';
import { written } from '../db/time-sql.js';
import { type EventFilter, eventCandidates } from './candidates-sql.js';
import type { EventReference } from './event-id.js';

/** An event and what has become of it so far. A range of voided periods is one of these. */
export interface EventRow {
  readonly eventId: string;
  /** Of a range: the last one's. */
  readonly lastEventId: string | null;
  readonly eventType: EventType;
  readonly orderNo: string;
  readonly occurredAt: string;
  /** When it was written. */
  readonly recordedAt: string;
  readonly deliveryStatus: DeliveryStatus;
  readonly pushes: number;
  readonly lastPushTime: string | null;
  /** Of a range: the first one's. */
  readonly data: unknown;
}

/** The numbers of the first and the last period that is meant; both are null unless it is one of a range, or all of it. */
interface Periods {
  readonly first: string;
  readonly last: string;
}

const WHOLE: Periods = { first: 'case when e.cycle_to is not null then e.cycle_no end', last: 'e.cycle_to' };

/**
 * How far an event has come. The busy table is not made for such questions: what was accepted is in the attempts, what is
 * not sent any more is a row of its own, and the rest is still to be sent. No attempt is older than its event, which spares
 * looking into weeks before that.
 */
const history = ({ first, last }: Periods) => `lateral (select ${first} as first_no, ${last} as last_no) n,
  lateral (
    select count(*)::integer as pushes, max(t.at) as last_at,
      count(distinct t.cycle_no) filter (where t.outcome = 'ACCEPTED') as accepted
    from delivery_attempts t where t.channel_id = e.channel_id and t.event_no = e.event_no and t.at >= e.recorded_at
      and (n.first_no is null or t.cycle_no between n.first_no and n.last_no)) a,
  lateral (
    select min(x.reason) as reason from undelivered_events x where x.channel_id = e.channel_id and x.event_no = e.event_no
      and (n.first_no is null or (x.cycle_no <= n.last_no and coalesce(x.cycle_to, x.cycle_no) >= n.first_no))) u`;

/** Of several periods, one that was given up is what must be seen; the least of the two reasons is that one. */
const STATUS = `coalesce(u.reason,
    case when a.accepted >= coalesce(n.last_no - n.first_no + 1, 1) then 'DELIVERED' else 'PENDING' end)`;

const COLUMNS = `e.event_no || coalesce('-' || n.first_no, '') as "eventId",
  e.event_no || '-' || case when n.last_no > n.first_no then n.last_no end as "lastEventId",
  e.event_type as "eventType", e.order_no::text as "orderNo", ${written('e.occurred_at')} as "occurredAt",
  ${written('e.recorded_at')} as "recordedAt", ${STATUS} as "deliveryStatus", a.pushes,
  ${written('a.last_at')} as "lastPushTime", e.data::json`;

/** Newest first. */
export async function listEvents(
  db: Queryable,
  channelId: number,
  filter: EventFilter,
  limit: number,
  offset: number,
): Promise<EventRow[]> {
  const values: unknown[] = [channelId];
  const value = (given: unknown) => `$${values.push(given)}`;
  const { text, areSure } = eventCandidates(filter, value);
  const page = `limit ${value(limit)} offset ${value(offset)}`;
  // Where candidates need no second look, nothing more is asked about those of other pages. Where they do, they are looked
  // at one by one, and no further than the page goes: the fences keep PostgreSQL from looking at all of them first.
  const [pageOfCandidates, ofStatus, pageOfEvents] = areSure
    ? [page, '', '']
    : ['offset 0', `where shown."deliveryStatus" = ${value(filter.status)}`, page];
  return db.query<EventRow>(
    `select shown.* from (${text} order by c.event_no desc ${pageOfCandidates}) k, lateral (
       select ${COLUMNS} from events e, ${history(WHOLE)}
       where e.channel_id = $1 and e.event_no = k.event_no and e.recorded_at = k.recorded_at offset 0) shown
     ${ofStatus} order by k.event_no desc ${pageOfEvents}`,
    values,
  );
}

/** Of a range also one period alone. */
export async function findEvent(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: EventReference,
): Promise<EventRow | undefined> {
  const [periods, isOfIt] =
    cycleNo === undefined
      ? [WHOLE, '$3::integer is null']
      : [{ first: '$3::integer', last: '$3::integer' }, '$3 between e.cycle_no and e.cycle_to'];
  const [event] = await db.query<EventRow>(
    `select ${COLUMNS} from events e, ${history(periods)} where e.channel_id = $1 and e.event_no = $2 and ${isOfIt}`,
    [channelId, eventNo, cycleNo ?? null],
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

const MOST_PUSHES = 1_000;

/** The latest pushes of one event, in the order of time; of a range, those of one period or of all. */
export async function listPushes(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: EventReference,
): Promise<Push[]> {
  const pushes = await db.query<Push>(
    `select event_no || case when cycle_no = 0 then '' else '-' || cycle_no end as "eventId", retry_no as "retryNo",
       ${written('at')} as at, outcome, http_status as "httpStatus", latency_ms as "latencyMs", answer
     from delivery_attempts where channel_id = $1 and event_no = $2 and ($3::integer is null or cycle_no = $3)
     order by delivery_attempts.at desc, cycle_no desc, retry_no desc limit ${MOST_PUSHES}`,
    [channelId, eventNo, cycleNo ?? null],
  );
  return pushes.reverse();
}
