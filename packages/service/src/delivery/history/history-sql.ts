import type { DeliveryStatus, EventType } from '@perennial/wire';
import { column, columns, declareList, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { EventReference } from '../event-id.js';
import { acceptedAttempts, allAttempts, failedAttempts, keyOfEvent } from './attempts-sql.js';

/** An event with its delivery state. An event about a range of voided periods is one row. */
export type EventRow = RowOf<typeof EVENT_ROW>;

/**
 * SQL: the first and the last period of a range. If a single period of the range is selected, `first` and `last` are
 * both that period. Null for an event without a range.
 */
interface Periods {
  readonly first: string;
  readonly last: string;
}

export const WHOLE: Periods = { first: 'case when e.cycle_to is not null then e.cycle_no end', last: 'e.cycle_to' };

/**
 * SQL: the delivery state of an event, for a select that calls the event `e`. Does not read due_events, which is busy.
 * Accepted pushes are in delivery_attempts, and events that are not sent any more are in undelivered_events. All other
 * events are pending.
 */
export const progress = ({ first, last }: Periods) => `lateral (select ${first} as first_no, ${last} as last_no) n,
  lateral (
    select count(*)::integer as pushes, max(t.at) as last_at, count(distinct t.cycle_no) as cycles
    from (${acceptedAttempts(keyOfEvent('e'))}) t where ${overlapsPeriods('t.cycle_no', 't.cycle_no')}) a,
  lateral (
    select min(x.reason) as reason from undelivered_events x where x.channel_id = e.channel_id and x.event_no = e.event_no
      and ${overlapsPeriods('x.cycle_no', 'coalesce(x.cycle_to, x.cycle_no)')}) u`;

/** SQL: the number of failed pushes of an event, and the time of the last one. */
export const FAILURES = `lateral (
    select count(*)::integer as pushes, max(t.at) as last_at
    from (${failedAttempts(keyOfEvent('e'))}) t where ${overlapsPeriods('t.cycle_no', 't.cycle_no')}) f`;

function overlapsPeriods(first: string, last: string): string {
  return `(n.first_no is null or (${first} <= n.last_no and ${last} >= n.first_no))`;
}

/** GIVE_UP if any period was given up: `GIVE_UP` sorts before `NO_CALLBACK`, so `min()` returns it. */
export const STATUS = `coalesce(u.reason,
    case when a.cycles >= coalesce(n.last_no - n.first_no + 1, 1) then 'DELIVERED' else 'PENDING' end)`;

export const COLUMNS = `e.event_no || coalesce('-' || n.first_no, '') as "eventId",
  e.event_no || '-' || case when n.last_no > n.first_no then n.last_no end as "lastEventId",
  e.event_type as "eventType", e.order_no::text as "orderNo", ${shanghaiText('e.occurred_at')} as "occurredAt",
  ${shanghaiText('e.recorded_at')} as "recordedAt", ${STATUS} as "deliveryStatus", a.pushes + f.pushes as pushes,
  ${shanghaiText('greatest(a.last_at, f.last_at)')} as "lastPushTime", e.data::json`;

export const EVENT_ROW = columns({
  eventId: 'text',
  /** The eventId of the last period, if the event is about several voided periods. */
  lastEventId: 'text?',
  eventType: column<EventType>('text'),
  orderNo: 'text',
  occurredAt: 'text',
  recordedAt: 'text',
  deliveryStatus: column<DeliveryStatus>('text'),
  pushes: 'integer',
  lastPushTime: 'text?',
  /** The payload. An event about a range of periods has the payload of its first period. */
  data: 'json',
});

const find = (periods: Periods, condition: string) =>
  statement({
    text: `select ${COLUMNS} from events e, ${progress(periods)}, ${FAILURES}
     where e.channel_id = $1 and e.event_no = $2 and ${condition}`,
    parameters: ['bigint', 'bigint', 'integer'],
    columns: EVENT_ROW,
  });

const FIND_WHOLE = find(WHOLE, '$3::integer is null');
const FIND_PERIOD = find({ first: '$3::integer', last: '$3::integer' }, '$3 between e.cycle_no and e.cycle_to');

/** Finds an event, or a single period of an event about a range of periods. */
export async function findEvent(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: EventReference,
): Promise<EventRow | undefined> {
  const [event] = await db.query(cycleNo === undefined ? FIND_WHOLE : FIND_PERIOD, [
    channelId,
    eventNo,
    cycleNo ?? null,
  ]);
  return event;
}

export type Push = RowOf<typeof PUSH_COLUMNS>;

const PUSH_FIELDS = `t.event_no || case when t.cycle_no = 0 then '' else '-' || t.cycle_no end as "eventId",
       t.retry_no as "retryNo", ${shanghaiText('t.at')} as at, t.outcome, t.http_status as "httpStatus",
       t.latency_ms as "latencyMs", t.answer`;

const PUSH_COLUMNS = columns({
  eventId: 'text',
  retryNo: 'smallint',
  at: 'text',
  outcome: 'delivery_outcome',
  httpStatus: 'smallint?',
  latencyMs: 'smallint',
  answer: 'text?',
});

const MAX_PUSHES_LISTED = 1_000;

const LIST_PUSHES = statement({
  text: `select ${PUSH_FIELDS}
     from events e, lateral ${allAttempts(keyOfEvent('e'))} t
     where e.channel_id = $1 and e.event_no = $2 and ($3::integer is null or t.cycle_no = $3)
     order by t.at desc, t.cycle_no desc, t.retry_no desc limit ${MAX_PUSHES_LISTED}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: PUSH_COLUMNS,
});

/** Returns the latest pushes of one event, oldest first. For a range: the pushes of one period or of all periods. */
export async function listPushes(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: EventReference,
): Promise<Push[]> {
  const pushes = await db.query(LIST_PUSHES, [channelId, eventNo, cycleNo ?? null]);
  return pushes.reverse();
}

export const listPushesOfEvents = declareList({
  text: `select ${PUSH_FIELDS}
     from events e, lateral ${allAttempts(keyOfEvent('e'))} t
     where e.channel_id = $1 and e.event_no = any($2::bigint[])
     order by t.at desc, t.cycle_no desc, t.retry_no desc limit $3`,
  parameters: ['bigint', 'bigint[]', 'bigint'],
  columns: PUSH_COLUMNS,
});
