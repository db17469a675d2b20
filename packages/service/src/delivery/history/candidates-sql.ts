import type { DeliveryStatus, EventType } from '@perennial/wire';
import { fromEpochMicros, fromEpochMs } from '../../platform/db/time-sql.js';
import { isNotice } from '../event-type-sql.js';
import { isPayment } from './attempts-sql.js';
import { progress, STATUS, WHOLE } from './history-sql.js';
import type { InstantRange } from './time-range.js';

/** A filter of events. The time range applies to the time when an event was written. */
export interface EventFilter extends InstantRange {
  readonly orderNo?: number | undefined;
  readonly eventType?: EventType | undefined;
  readonly status?: DeliveryStatus | undefined;
}

/** The time when the event was written, in Unix microseconds, and its number. */
export type EventKey = readonly [recordedMicros: number, eventNo: number];

/**
 * SQL: the keys of the newest `max` events of channel $1 that come after the key `after` in the list. Reads the table
 * that contains the wanted events and few other events. All four tables have an index in the order of the list, so the
 * cost of a page does not grow with the channel's history.
 */
export function newestEvents(
  { orderNo, eventType, status, from, to }: EventFilter,
  after: EventKey | undefined,
  max: string,
  value: (given: unknown) => string,
): string {
  const place = [
    ...(from === undefined ? [] : [`c.recorded_at >= ${fromEpochMs(value(from))}`]),
    ...(to === undefined ? [] : [`c.recorded_at < ${fromEpochMs(value(to))}`]),
    ...(after === undefined
      ? []
      : [`(c.recorded_at, c.event_no) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`]),
  ];
  const ofType = () => (eventType === undefined ? [] : [`c.event_type = ${value(eventType)}`]);
  const page = `${NEWEST} limit ${max}`;

  // An order has few events and one channel. The outer select checks the channel, because otherwise the planner might
  // use the channel's index to find the newest events.
  if (orderNo !== undefined) {
    const where = [`c.order_no = ${value(orderNo)}`, ...ofType(), ...place];
    const events = `select c.channel_id, c.recorded_at, c.event_no from events c where ${where.join(' and ')} ${NEWEST}`;
    const hasStatus = status === undefined ? '' : `and ${statusOf('c')} = ${value(status)}`;
    return `select c.recorded_at, c.event_no from (${events} offset 0) c where c.channel_id = $1 ${hasStatus} ${page}`;
  }

  /** Without a type, reads the two kinds of BOTH_HALVES separately, because each of them is one range of the index. */
  const ofEachKind = (isKind: Readonly<Record<Kind, string>>, keys: (conditions: string) => string) => {
    const kinds = eventType === undefined ? BOTH_HALVES : [eventType];
    const each = kinds.map((kind) => `(${keys(['c.channel_id = $1', isKind[kind], ...place].join(' and '))} ${page})`);
    return `select c.recorded_at, c.event_no from (${each.join(' union all ')}) c ${page}`;
  };
  /** Returns one row per event. A voided range, or an event that was accepted repeatedly, has several table rows. */
  const oncePerEvent = (table: string, conditions: string) =>
    `select c.recorded_at, c.event_no from (
       select distinct on (c.recorded_at, c.event_no) c.recorded_at, c.event_no, c.cycle_no
       from ${table} c where ${conditions} ${NEWEST}) c`;
  switch (status) {
    case undefined:
      return ofEachKind(
        EVENT_KIND,
        (conditions) => `select c.recorded_at, c.event_no from events c where ${conditions}`,
      );
    case 'DELIVERED':
      return ofEachKind(KIND, (conditions) => {
        const accepted = oncePerEvent('delivery_attempts', `c.outcome = 'ACCEPTED' and ${conditions}`);
        return `${accepted} where ${WAS_DELIVERED}`;
      });
    case 'PENDING':
      return ofEachKind(
        KIND,
        (conditions) => `${oncePerEvent('due_events', conditions)} where ${statusOf('c')} = 'PENDING'`,
      );
    case 'GIVE_UP':
    case 'NO_CALLBACK':
      return ofEachKind(KIND, (conditions) => {
        const undelivered = oncePerEvent('undelivered_events', `c.reason = ${value(status)} and ${conditions}`);
        return status === 'GIVE_UP' ? undelivered : `${undelivered} where ${NOTHING_GIVEN_UP}`;
      });
  }
}

const NEWEST = 'order by c.recorded_at desc, c.event_no desc';

/** One event type, or all types except payment.status.changed. */
type Kind = EventType | 'not of payments';
/** Together these two kinds include every event. */
const BOTH_HALVES: readonly Kind[] = ['payment.status.changed', 'not of payments'];
const KIND: Readonly<Record<Kind, string>> = {
  'payment.status.changed': 'c.is_payment',
  'not of payments': 'not c.is_payment',
  'order.status.changed': 'not c.is_payment and not c.is_notice',
  'payment.upcoming': 'not c.is_payment and c.is_notice',
};
/** `is false` instead of `not`, because PostgreSQL turns `not` into an inequality and misses the index. */
const EVENT_KIND: Readonly<Record<Kind, string>> = {
  'payment.status.changed': `(${isPayment('c')}) is true`,
  'not of payments': `(${isPayment('c')}) is false`,
  'order.status.changed': `(${isPayment('c')}) is false and not (${isNotice('c')})`,
  'payment.upcoming': isNotice('c'),
};

/**
 * A scalar subquery, because it runs once per event and stops at the end of the page. A join might run for all events.
 */
const statusOf = (c: string) => `(select ${STATUS} from events e, ${progress(WHOLE)}
  where e.channel_id = $1 and e.event_no = ${c}.event_no and e.recorded_at = ${c}.recorded_at)`;

/**
 * SQL: true if an accepted event was delivered completely: it is not in undelivered_events after a replay and, if it
 * stands for a range of periods, every period was accepted.
 */
const WAS_DELIVERED = `case when c.cycle_no = 0
  then not exists (select from undelivered_events g where g.channel_id = $1 and g.event_no = c.event_no)
  else ${statusOf('c')} = 'DELIVERED' end`;

/** SQL: false if the event stands for a range of periods and one of them was given up. Otherwise true. */
const NOTHING_GIVEN_UP = `case when c.cycle_no = 0 then true else not exists (select from undelivered_events g
  where g.channel_id = $1 and g.event_no = c.event_no and g.reason = 'GIVE_UP') end`;
