import { eventTypes } from '../enums.js';
import { Rejection } from '../rejection.js';
import { Enum, Nullable, OutText, pagingFields, Text, Time } from './common.js';
import { rangeChecks } from './events-history.js';
import { type Static, Type } from './type.js';

/** A URL path of characters that clients do not encode before sending. */
export const CALLBACK_PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*$/;

/** A query for signed pushes of a channel's events, for developers whose receiver cannot be reached from outside. */
export const EventsPullRequest = Type.Object({
  path: Text,
  from: Type.Optional(Text),
  size: pagingFields.size,
  cursor: pagingFields.cursor,
});
export type EventsPullRequest = Static<typeof EventsPullRequest>;

export const PushHeaders = Type.Object({
  'Content-Type': OutText,
  'X-SVC-App-Id': OutText,
  'X-SVC-Timestamp': OutText,
  'X-SVC-Nonce': OutText,
  'X-SVC-Event-Id': OutText,
  'X-SVC-Signature': OutText,
});
export type PushHeaders = Static<typeof PushHeaders>;

export const PulledPush = Type.Object({
  eventId: OutText,
  eventType: Enum(eventTypes),
  occurredAt: Time,
  writtenAt: Time,
  headers: PushHeaders,
  body: Type.String(),
});
export type PulledPush = Static<typeof PulledPush>;

export const EventsPullData = Type.Object({
  pushes: Type.Array(PulledPush),
  /** The time of reading. An event that was being written at this time may appear later, with an earlier writtenAt. */
  readAt: Time,
  nextCursor: Nullable(OutText),
});
export type EventsPullData = Static<typeof EventsPullData>;

export function eventsPullChecks({ path, from }: EventsPullRequest): void {
  if (!CALLBACK_PATH.test(path)) throw new Rejection('PARAM_INVALID', 'path must be a URL path such as /events');
  rangeChecks({ from });
}
