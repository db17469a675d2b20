import { type EventType, formatTime } from '@perennial/wire';
import { toArrayText } from '../../platform/db/array-text.js';
import { declareRequire, type Queryable } from '../../platform/db/database.js';
import { column, columns, joinColumns, type RowOf, statement } from '../../platform/db/statement.js';
import { epochMs } from '../../platform/db/time-sql.js';
import { typeNoSql } from '../event-type-sql.js';

/** The key of a due event: the event and, in a range of voided periods, the period. */
export interface DueKey {
  readonly eventNo: number;
  /** The period if the event is about a range of voided periods, else 0. */
  readonly cycleNo: number;
}

export type DueEvent = RowOf<typeof DUE_ROW>;

/** A position in the due events, in the order in which they are read. */
export interface DuePosition {
  readonly nextAt: string;
  readonly eventNo: number;
  readonly cycleNo: number;
}

export const START: DuePosition = { nextAt: '-infinity', eventNo: 0, cycleNo: 0 };

/**
 * Returns a position from which a read finds the events that are due at this time or later. The time is text, because
 * times from the database are text too and `isBefore` compares them. It always has three decimals.
 */
export function positionAt(unixMs: number): DuePosition {
  const whole = Math.floor(unixMs);
  return { ...START, nextAt: `${formatTime(whole)}.${String(whole % 1000).padStart(3, '0')}+08` };
}

/** Compares times as text: all have the same offset, and "+" after a shorter fraction sorts before any digit. */
export function isBefore(one: DuePosition, other: DuePosition): boolean {
  if (one.nextAt !== other.nextAt) return one.nextAt < other.nextAt;
  return one.eventNo === other.eventNo ? one.cycleNo < other.cycleNo : one.eventNo < other.eventNo;
}

/** Returns a position just before the given one. A read from there returns the event at the given position first. */
export const justBefore = ({ nextAt, eventNo, cycleNo }: DuePosition): DuePosition => ({
  nextAt,
  eventNo,
  cycleNo: cycleNo - 1,
});

export const DUE_COLUMNS = (d: string) => `${d}.shard, ${d}.event_no as "eventNo", ${d}.cycle_no as "cycleNo",
  ${d}.channel_id as "channelId", ${d}.order_no as "orderNo", ${typeNoSql(d)} as "typeNo", ${d}.cycle_to as "cycleTo",
  ${d}.next_at::text as "nextAt", nullif(${d}.recorded_at, ${d}.next_at)::text as "recordedAt", ${d}.step, ${d}.retry_no as "retryNo"`;

export const DUE_ROW = columns({
  shard: 'smallint',
  eventNo: 'bigint',
  /** The period if the event is about a range of voided periods, else 0. */
  cycleNo: 'integer',
  channelId: 'bigint',
  orderNo: 'bigint',
  /** The index of the event's type in the list of event types. */
  typeNo: 'integer',
  /** The last period if the row still stands for a whole range of periods. */
  cycleTo: 'integer?',
  /** The time as PostgreSQL writes it, to the microsecond, because it is part of the row's key. */
  nextAt: 'text',
  /** The time when the event was written. Null if it equals nextAt, as in most rows. */
  recordedAt: 'text?',
  step: 'smallint',
  retryNo: 'smallint',
});

const AFTER = '(d.next_at, d.event_no, d.cycle_no) >';
const IN_ORDER = 'order by d.next_at, d.event_no, d.cycle_no';

/** Returns the kind of an event: its channel and type as one number. All events of a kind are sent to one address. */
export const kindOf = ({ channelId, typeNo }: Pick<DueEvent, 'channelId' | 'typeNo'>): number => channelId * 4 + typeNo;
export const channelOf = (kind: number): Pick<DueEvent, 'channelId' | 'typeNo'> => ({
  channelId: Math.floor(kind / 4),
  typeNo: kind % 4,
});
const KIND = `d.channel_id * 4 + ${typeNoSql('d')}`;

/**
 * Reads due events from several parts of shards. Each part begins at a given position. Each part has its own subquery,
 * because PostgreSQL would otherwise sort the whole backlog (measured: 8,000 rows a second instead of 38,000). Locks
 * nothing, because only one node reads a shard.
 *
 * With `since`, reads only rows that the transaction `since` or a later transaction wrote. Without `since`, reads all
 * rows except those of the skipped kinds.
 */
const READ_SHARDS = statement({
  name: 'read-due-events',
  text: `select s.part::integer, ${DUE_COLUMNS('d')}
         from unnest($1::smallint[], $2::timestamptz[], $3::bigint[], $4::integer[], $7::timestamptz[], $8::xid[])
             with ordinality as s(shard, next_at, event_no, cycle_no, until, since, part),
           lateral (select * from due_events d where d.shard = s.shard and ${AFTER} (s.next_at, s.event_no, s.cycle_no)
             and d.next_at <= least(coalesce(to_timestamp($6::double precision / 1000), now()), s.until)
             and case when s.since is null then ${KIND} <> all($9::bigint[]) else age(d.xmin) <= age(s.since) end
             ${IN_ORDER} limit $5) d`,
  parameters: [
    'smallint[]',
    'timestamp with time zone[]',
    'bigint[]',
    'integer[]',
    'bigint',
    'double precision',
    'timestamp with time zone[]',
    'xid[]',
    'bigint[]',
  ],
  columns: joinColumns(DUE_ROW, columns({ part: 'integer' })),
});
/**
 * Returns the oldest running transaction. Rows that are committed from now on were written by that transaction or by a
 * later transaction.
 */
export const readHorizon = declareRequire({
  name: 'read-horizon',
  text: 'select pg_snapshot_xmin(pg_current_snapshot())::xid::text as horizon',
  parameters: [],
  columns: columns({ horizon: 'text' }),
  value: ({ horizon }) => horizon,
});
const READ_CHANNEL = statement({
  name: 'read-due-events-of-channel',
  text: `select ${DUE_COLUMNS('d')} from due_events d
         where d.shard = $1 and ${AFTER} ($2::timestamptz, $3::bigint, $4::integer)
           and d.next_at <= coalesce(to_timestamp($6::double precision / 1000), now())
           and d.channel_id = $7 and ${typeNoSql('d')} = any($8::integer[]) ${IN_ORDER} limit $5`,
  parameters: [
    'smallint',
    'timestamp with time zone',
    'bigint',
    'integer',
    'bigint',
    'double precision',
    'bigint',
    'integer[]',
  ],
  columns: DUE_ROW,
});

export interface ShardPosition {
  readonly shard: number;
  readonly after: DuePosition;
}

/** A part of a shard, which is read page by page. */
export interface ShardPart extends ShardPosition {
  /** Null reads until now. */
  readonly until: string | null;
  /** Null reads the rows of every transaction. */
  readonly since: string | null;
}

/** Reads parts of shards. Each row has the number of its part, counted from 1. `now` is set in tests. */
export async function readShards(
  db: Queryable,
  parts: readonly ShardPart[],
  skippedKinds: readonly number[],
  limit: number,
  now?: number,
): Promise<(DueEvent & { readonly part: number })[]> {
  return db.query(READ_SHARDS, [
    parts.map(({ shard }) => shard),
    parts.map(({ after }) => after.nextAt),
    parts.map(({ after }) => after.eventNo),
    parts.map(({ after }) => after.cycleNo),
    limit,
    now ?? null,
    parts.map(({ until }) => until),
    parts.map(({ since }) => since),
    skippedKinds,
  ]);
}

export async function readChannel(
  db: Queryable,
  { shard, after }: ShardPosition,
  channel: { readonly channelId: number; readonly typeNos: readonly number[] },
  limit: number,
  now?: number,
): Promise<DueEvent[]> {
  const { channelId, typeNos } = channel;
  return db.query(READ_CHANNEL, [
    shard,
    after.nextAt,
    after.eventNo,
    after.cycleNo,
    limit,
    now ?? null,
    channelId,
    typeNos,
  ]);
}

/** The stored text of an event, with the fields that are added when it is sent. */
export type StoredEvent = Omit<RowOf<typeof READ_EVENTS>, 'place'>;

const READ_EVENTS = statement({
  name: 'read-events-to-send',
  text: `select k.place::integer, e.event_type as "eventType", ${epochMs('e.occurred_at')} as "occurredAt", e.data,
           ${epochMs('o.created_at')} as "createdAt", o.period_type as "periodType", o.period, u.mobile,
           u.channel_user_id as "channelUserId", (select c.version from channels c where c.channel_id = $1) as version
         from unnest($2::bigint[], $3::integer[], $4::timestamptz[], $5::bigint[]) with ordinality
             as k(event_no, cycle_no, recorded_at, order_no, place)
           join events e on e.channel_id = $1 and e.event_no = k.event_no and e.recorded_at = k.recorded_at
           left join lateral (select * from orders x where x.order_no = k.order_no
             and (k.cycle_no > 0 or (x.shared and e.cycle_no is not null)) offset 0) o on true
           left join lateral (select * from channel_users y where y.channel_id = $1 and o.shared
             and key_of(y.channel_user_id) = key_of(o.channel_user_id) offset 0) u on true`,
  parameters: ['bigint', 'bigint[]', 'integer[]', 'timestamp with time zone[]', 'bigint[]'],
  columns: columns({
    place: 'integer',
    eventType: column<EventType>('text'),
    occurredAt: 'bigint',
    data: 'text',
    /**
     * These three fields are set for a period of a voided range, because the period's due time is derived from them.
     * They are also set for some other events.
     */
    createdAt: 'bigint?',
    periodType: column<'DAY' | 'MONTH'>('text?'),
    period: 'integer?',
    /** Sealed. */
    mobile: 'text?',
    /** Set for events about a period of an order with a shared agreement, unless the user was erased. */
    channelUserId: 'text?',
    /** The channel's current version. The version in the cache may be older. */
    version: 'bigint',
  }),
});

/**
 * Reads events of one channel in one statement, in the order of `due`. Returns undefined for an event past its
 * retention.
 */
export async function readEvents(
  db: Queryable,
  channelId: number,
  due: readonly DueEvent[],
): Promise<(StoredEvent | undefined)[]> {
  const rows = await db.query(READ_EVENTS, [
    channelId,
    toArrayText(due, (one) => one.eventNo),
    toArrayText(due, (one) => one.cycleNo),
    toArrayText(due, (one) => one.recordedAt ?? one.nextAt),
    toArrayText(due, (one) => one.orderNo),
  ]);
  const events = new Array<StoredEvent | undefined>(due.length).fill(undefined);
  for (const row of rows) events[row.place - 1] = row;
  return events;
}

/** Equals the eventId when written as text. */
export type EventKey = number | string;

export const keyOf = ({ eventNo, cycleNo }: DueKey): EventKey => (cycleNo === 0 ? eventNo : `${eventNo}-${cycleNo}`);
