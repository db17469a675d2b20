import type { DeliveryStatus, EventType } from '@perennial/wire';
import { fromEpochMicros, fromEpochMs } from '../../platform/db/time-sql.js';
import { isNotice } from '../event-type-sql.js';
import { isPayment } from './attempts-sql.js';
import { progress, STATUS, WHOLE } from './history-sql.js';
import type { InstantRange } from './time-range.js';

/** The range is of when the event was written. */
export interface EventFilter extends InstantRange {
  readonly orderNo?: number | undefined;
  readonly eventType?: EventType | undefined;
  readonly status?: DeliveryStatus | undefined;
}

/** When the event was written, in Unix microseconds, and its number. */
export type EventKey = readonly [recordedMicros: number, eventNo: number];

/**
 * Keys of the newest events of channel $1 behind one, `max` of them (SQL). By the table in which there are those asked for
 * and hardly any others: all four have the same key in the order in which events are listed, so that what a page costs does
 * not grow with what the channel was ever told.
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

  // The events of an order are few, and it has one channel. That is asked of those that were found, or the channel's index
  // might look like the shorter way to the newest ones.
  if (orderNo !== undefined) {
    const where = [`c.order_no = ${value(orderNo)}`, ...ofType(), ...place];
    const events = `select c.channel_id, c.recorded_at, c.event_no from events c where ${where.join(' and ')} ${NEWEST}`;
    const hasStatus = status === undefined ? '' : `and ${statusOf('c')} = ${value(status)}`;
    return `select c.recorded_at, c.event_no from (${events} offset 0) c where c.channel_id = $1 ${hasStatus} ${page}`;
  }

  /** Each kind of event has its stretch of an index; the newest of all come first. */
  const ofEachKind = (isKind: Readonly<Record<Kind, string>>, keys: (conditions: string) => string) => {
    const kinds = eventType === undefined ? BOTH_HALVES : [eventType];
    const each = kinds.map((kind) => `(${keys(['c.channel_id = $1', isKind[kind], ...place].join(' and '))} ${page})`);
    return `select c.recorded_at, c.event_no from (${each.join(' union all ')}) c ${page}`;
  };
  /** Of a range of voided periods, and of what was accepted more than once, a table has several rows. */
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

/** One type, or all that are not of payments: these lie together in the index. */
type Kind = EventType | 'not of payments';
/** Every event is in one of these. */
const BOTH_HALVES: readonly Kind[] = ['payment.status.changed', 'not of payments'];
const KIND: Readonly<Record<Kind, string>> = {
  'payment.status.changed': 'c.is_payment',
  'not of payments': 'not c.is_payment',
  'order.status.changed': 'not c.is_payment and not c.is_notice',
  'payment.upcoming': 'not c.is_payment and c.is_notice',
};
/** Spelled so that PostgreSQL finds the index: of a plain `not` it makes an inequality. Notices have an index of their own. */
const EVENT_KIND: Readonly<Record<Kind, string>> = {
  'payment.status.changed': `(${isPayment('c')}) is true`,
  'not of payments': `(${isPayment('c')}) is false`,
  'order.status.changed': `(${isPayment('c')}) is false and not (${isNotice('c')})`,
  'payment.upcoming': isNotice('c'),
};

/** Asked for one event after another, and no further than the page goes: as a join, it might be asked for all of them. */
const statusOf = (c: string) => `(select ${STATUS} from events e, ${progress(WHOLE)}
  where e.channel_id = $1 and e.event_no = ${c}.event_no and e.recorded_at = ${c}.recorded_at)`;

/** What was accepted is delivered, unless it was given up after a replay; of a range, each period must have been. */
const WAS_DELIVERED = `case when c.cycle_no = 0
  then not exists (select from undelivered_events g where g.channel_id = $1 and g.event_no = c.event_no)
  else ${statusOf('c')} = 'DELIVERED' end`;

/** Of a range of voided periods, some may be. */
const NOTHING_GIVEN_UP = `case when c.cycle_no = 0 then true else not exists (select from undelivered_events g
  where g.channel_id = $1 and g.event_no = c.event_no and g.reason = 'GIVE_UP') end`;
