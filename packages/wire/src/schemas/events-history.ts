import { deliveryStatuses, eventTypes } from '../enums.js';
import { Rejection } from '../rejection.js';
import { parseTime } from '../time.js';
import {
  Count,
  Enum,
  Identifier,
  Nullable,
  OutText,
  pageFields,
  pagingChecks,
  pagingFields,
  Text,
  Time,
} from './common.js';
import { orderReferenceFields } from './order-reference.js';
import { type Static, Type } from './type.js';

/** A query for a channel's events, delivered or not. With it a channel can catch up after an outage. */
export const EventsListRequest = Type.Object({
  ...orderReferenceFields,
  eventType: Type.Optional(Enum(eventTypes)),
  deliveryStatus: Type.Optional(Enum(deliveryStatuses)),
  from: Type.Optional(Text),
  to: Type.Optional(Text),
  ...pagingFields,
});
export type EventsListRequest = Static<typeof EventsListRequest>;

export const EventRecord = Type.Object({
  eventId: OutText,
  lastEventId: Nullable(OutText),
  eventType: Enum(eventTypes),
  orderNo: Identifier,
  occurredAt: Time,
  deliveryStatus: Enum(deliveryStatuses),
  pushes: Count,
  lastPushTime: Nullable(Time),
  data: Type.Unknown(),
});
export type EventRecord = Static<typeof EventRecord>;

export const EventsListData = Type.Object({ events: Type.Array(EventRecord), ...pageFields });
export type EventsListData = Static<typeof EventsListData>;

/** Selects events by their ids, or by a time range. A range selects only events that are GIVE_UP or NO_CALLBACK. */
export const EventsReplayRequest = Type.Object({
  eventIds: Type.Optional(Type.Array(Text, { minItems: 1, maxItems: 100 })),
  from: Type.Optional(Text),
  to: Type.Optional(Text),
});
export type EventsReplayRequest = Static<typeof EventsReplayRequest>;

export const EventsReplayData = Type.Object({ replayed: Count });
export type EventsReplayData = Static<typeof EventsReplayData>;

export function eventsListChecks({ orderNo, externalOrderNo, from, to, ...paging }: EventsListRequest): void {
  if (orderNo !== undefined && externalOrderNo !== undefined) {
    throw new Rejection('PARAM_INVALID', 'orderNo and externalOrderNo are mutually exclusive');
  }
  rangeChecks({ from, to });
  pagingChecks(paging);
}

export function eventsReplayChecks({ eventIds, from, to }: EventsReplayRequest): void {
  const byTime = from !== undefined || to !== undefined;
  if (eventIds === undefined && !byTime) throw new Rejection('PARAM_INVALID', 'eventIds, from or to is required');
  if (eventIds !== undefined && byTime) {
    throw new Rejection('PARAM_INVALID', 'eventIds and a time range are mutually exclusive');
  }
  rangeChecks({ from, to });
}

export function rangeChecks({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  for (const [field, text] of Object.entries({ from, to })) {
    if (text !== undefined && parseTime(text) === undefined) {
      throw new Rejection('PARAM_INVALID', `${field} must be a time`);
    }
  }
}
