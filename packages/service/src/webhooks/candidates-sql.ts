import type { DeliveryStatus, EventType } from '@perennial/wire';
import { instant } from '../db/time-sql.js';
import { SHARDS } from './shards-sql.js';
import type { InstantRange } from './time-range.js';

/** The range is of when the event was written. */
export interface EventFilter extends InstantRange {
  readonly orderNo?: number | undefined;
  readonly eventType?: EventType | undefined;
  readonly status?: DeliveryStatus | undefined;
}

export interface Candidates {
  /** A query over `c`, without its order. */
  readonly text: string;
  /** All of them are what is asked for. If not, the status of each has yet to be looked at. */
  readonly areSure: boolean;
}

/**
 * The events of channel $1 among which those asked for are found, by the table in which they are few, or come in the order
 * in which they are shown: what a page costs must not grow with what the channel was ever told. Where most events are
 * DELIVERED, as they should be, the newest events are the place to look for these.
 */
export function eventCandidates(filter: EventFilter, value: (given: unknown) => string): Candidates {
  const { orderNo, eventType, status, from, to } = filter;
  const inTime = [
    ...(from === undefined ? [] : [`c.recorded_at >= ${instant(value(from))}`]),
    ...(to === undefined ? [] : [`c.recorded_at < ${instant(value(to))}`]),
  ];
  const all = (...conditions: readonly string[]) => ['c.channel_id = $1', ...inTime, ...conditions].join(' and ');
  const ofType = eventType === undefined ? [] : [`c.event_type = '${eventType}'`];
  const ofKind = eventType === undefined ? [] : [`c.is_payment = ${eventType === 'payment.status.changed'}`];
  const KEYS = 'select c.event_no, c.recorded_at from';

  // The events of an order are few. Fenced off, or its channel's index might look like the shorter way to the newest ones.
  if (orderNo !== undefined) {
    const ofOrder = `(select * from events where order_no = ${value(orderNo)} offset 0) c`;
    return { text: `${KEYS} ${ofOrder} where ${all(...ofType)}`, areSure: status === undefined };
  }
  switch (status) {
    case undefined:
    case 'DELIVERED':
      return { text: `${KEYS} events c where ${all(...ofType)}`, areSure: status === undefined };
    case 'PENDING':
      return {
        text: `select distinct c.event_no, c.recorded_at from due_events c
               where c.shard = ($1 % ${SHARDS})::smallint and ${all(...ofKind)}`,
        areSure: false,
      };
    case 'GIVE_UP':
      return { text: `${undelivered(status)} ${all(...ofKind)} group by c.event_no`, areSure: true };
    case 'NO_CALLBACK':
      return { text: `${undelivered(status)} ${all(...ofKind, NOTHING_GIVEN_UP)} group by c.event_no`, areSure: true };
  }
}

const undelivered = (reason: DeliveryStatus) =>
  `select c.event_no, max(c.recorded_at) as recorded_at from undelivered_events c where c.reason = '${reason}' and`;

/** Of a range of voided periods, some may be. */
const NOTHING_GIVEN_UP = `not exists (select from undelivered_events g
  where g.channel_id = $1 and g.reason = 'GIVE_UP' and g.event_no = c.event_no)`;
