import { eventTypes } from '../enums.js';
import { Count, Enum, Nullable, OutText } from './common.js';
import { type Static, Type } from './type.js';

/** A push without an event, which tests a channel's receiver. */
export const EventsTestRequest = Type.Object({ eventType: Type.Optional(Enum(eventTypes)) });
export type EventsTestRequest = Static<typeof EventsTestRequest>;

export const EventsTestData = Type.Object({
  eventId: Nullable(OutText),
  /** Null if there is no callback address. Then nothing was sent. */
  url: Nullable(OutText),
  accepted: Type.Boolean(),
  httpStatus: Nullable(Count),
  /** The beginning of the receiver's answer, or why there is no answer. */
  answer: OutText,
  durationMs: Count,
});
export type EventsTestData = Static<typeof EventsTestData>;
