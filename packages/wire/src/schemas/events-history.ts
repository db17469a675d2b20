import { type Static, Type } from 'typebox';
import { deliveryStatuses, eventTypes } from '../enums.js';
import { Rejection } from '../rejection.js';
import { Count, Enum, Identifier, Nullable, OutText, pageFields, pagingFields, Text, Time } from './common.js';
import { orderReferenceFields } from './order-reference.js';

/** What the service has told, or is about to tell: for a channel that was away and wants to help itself. */
export const EventsListRequest = Type.Object({
  ...orderReferenceFields,
  eventType: Type.Optional(Enum(eventTypes)),
  deliveryStatus: Type.Optional(Enum(deliveryStatuses)),
  /** By when the event was written: from inclusive, to exclusive. */
  from: Type.Optional(Text),
  to: Type.Optional(Text),
  ...pagingFields,
});
export type EventsListRequest = Static<typeof EventsListRequest>;

export const EventRecord = Type.Object({
  eventId: OutText,
  /** Of periods that were voided together: the last one's. Null for every other event. */
  lastEventId: Nullable(OutText),
  eventType: Enum(eventTypes),
  orderNo: Identifier,
  occurredAt: Time,
  deliveryStatus: Enum(deliveryStatuses),
  pushes: Count,
  lastPushTime: Nullable(Time),
  /** As it was told, without mobileEncrypted. */
  data: Type.Unknown(),
});
export type EventRecord = Static<typeof EventRecord>;

export const EventsListData = Type.Object({ events: Type.Array(EventRecord), ...pageFields });
export type EventsListData = Static<typeof EventsListData>;

export const EventsReplayRequest = Type.Object({
  eventIds: Type.Optional(Type.Array(Text, { minItems: 1, maxItems: 100 })),
  from: Type.Optional(Text),
  to: Type.Optional(Text),
});
export type EventsReplayRequest = Static<typeof EventsReplayRequest>;

export const EventsReplayData = Type.Object({ replayed: Count });
export type EventsReplayData = Static<typeof EventsReplayData>;

export function eventsReplayChecks({ eventIds, from, to }: EventsReplayRequest): void {
  const byTime = from !== undefined || to !== undefined;
  if (eventIds === undefined && !byTime) throw new Rejection('PARAM_INVALID', 'eventIds, or from or to, is required');
  if (eventIds !== undefined && byTime) {
    throw new Rejection('PARAM_INVALID', 'eventIds and a range of time cannot both be given');
  }
}

export function eventsListChecks({ orderNo, externalOrderNo }: EventsListRequest): void {
  if (orderNo !== undefined && externalOrderNo !== undefined) {
    throw new Rejection('PARAM_INVALID', 'orderNo and externalOrderNo cannot both be given');
  }
}
