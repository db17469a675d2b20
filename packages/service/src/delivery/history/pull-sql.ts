import { columns, declareRequire, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { epochMicros, epochMs, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import { isNotice } from '../event-type-sql.js';
import { isPayment } from './attempts-sql.js';

/** The unit of a push: an event, or one period of a voided range. */
export type PushRow = RowOf<typeof LIST_PUSHES>;

/** The time when the event was written, in Unix microseconds, its number and the period. */
export type PushKey = readonly [recordedMicros: number, eventNo: number, cycleNo: number];

/**
 * SQL: one page of pushes. An event may stand for a range of periods, and has one push for each period. If the previous
 * page ended within a range, this page begins with the next period of that range. At most one page of rows is created
 * for a range.
 */
const LIST_PUSHES = statement({
  text: `with place as (select greatest(coalesce(${fromEpochMs('$2')}, '-infinity'),
       coalesce(${fromEpochMicros('$3')}, '-infinity')) as at, coalesce($4::bigint, 0) as event_no)
     select e.event_no as "eventNo", p.cycle_no as "cycleNo", e.order_no as "orderNo", (${isPayment('e')})::integer + 2 * (${isNotice('e')})::integer as "typeNo",
       e.recorded_at::text as "recordedAt", ${epochMicros('e.recorded_at')} as "recordedMicros",
       ${shanghaiText('e.recorded_at')} as "writtenAt"
     from (${oldestOfKind('true')} union all ${oldestOfKind('false')}) e, lateral (
       select n as cycle_no from generate_series(
         case when e.event_no = $4 then greatest($5::integer + 1, case when e.cycle_to is null then 1 else e.cycle_no end)
           when e.cycle_to is null then 0 else e.cycle_no end,
         coalesce(e.cycle_to, 0)) n limit $6) p
     order by e.recorded_at, e.event_no, p.cycle_no limit $6`,
  parameters: ['bigint', 'double precision', 'bigint', 'bigint', 'integer', 'bigint'],
  columns: columns({
    eventNo: 'bigint',
    /** The period if the push is about one period of a range, else 0. */
    cycleNo: 'integer',
    orderNo: 'bigint',
    /** The index of the event's type in the list of event types. */
    typeNo: 'integer',
    /** The time as PostgreSQL writes it, because it is part of the event's key. */
    recordedAt: 'text',
    recordedMicros: 'bigint',
    writtenAt: 'text',
  }),
});

/**
 * SQL: the oldest events of a kind. Reads one extra event, because the event with which the previous page ended may
 * have no further period.
 */
function oldestOfKind(isOfKind: string): string {
  return `(select c.* from events c where c.channel_id = $1 and (${isPayment('c')}) is ${isOfKind}
       and c.recorded_at >= (select at from place)
       and (c.recorded_at, c.event_no) >= ((select at from place), (select event_no from place))
     order by c.recorded_at, c.event_no limit $6::bigint + 1)`;
}

/** Lists pushes, oldest first, of events that were written at `from` (Unix milliseconds) or later. */
export async function listPushes(
  db: Queryable,
  channelId: number,
  from: number | undefined,
  limit: number,
  after: PushKey | undefined,
): Promise<PushRow[]> {
  return db.query(LIST_PUSHES, [
    channelId,
    from ?? null,
    after?.[0] ?? null,
    after?.[1] ?? null,
    after?.[2] ?? null,
    limit,
  ]);
}

/** Reads the database's clock, which gives events their times. */
export const readEventClock = declareRequire({
  text: `select ${epochMs('clock_timestamp()')} as now`,
  parameters: [],
  columns: columns({ now: 'bigint' }),
  value: ({ now }) => now,
});
