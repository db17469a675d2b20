import { deliveryStatuses, eventTypes, Type } from '@perennial/wire';
import {
  changed,
  count,
  integerOrNull,
  moment,
  nextCursor,
  oneOf,
  paging,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './parts.js';

const callbackType = oneOf('*', ...eventTypes);

export const eventChannelsQuery = Type.Object({ appId: Type.Optional(text(64)) });
export const eventChannels = Type.Object({
  channels: Type.Array(
    Type.Object({
      appId: Type.String(),
      name: Type.String(),
      callbackUrls: Type.Array(
        Type.Object({
          eventType: Type.String(),
          url: Type.String(),
          /** The first failed push after the last accepted one, if at least three have failed since then. */
          failingSince: timeOrNull,
        }),
      ),
      paused: Type.Array(callbackType),
      waiting: count,
      oldestWaitingAt: timeOrNull,
      nextPushAt: timeOrNull,
      givenUp: count,
      /** The number of events for which the channel has no callback URL. */
      withoutAddress: count,
      /** The number of accepted pushes in the last 24 hours. */
      accepted: count,
      /** The number of failed pushes in the last 24 hours. */
      failed: count,
      /** The receiver's latest answer. Only with `appId`. */
      lastAnswer: textOrNull,
    }),
  ),
});

const filterFields = {
  appId: text(64),
  status: Type.Optional(oneOf(...deliveryStatuses)),
  eventType: Type.Optional(oneOf(...eventTypes)),
  orderNo: Type.Optional(text(20)),
  from: Type.Optional(moment),
  to: Type.Optional(moment),
};
export const eventFilter = Type.Object(filterFields);
export const eventsQuery = Type.Object({ ...filterFields, ...paging });

export const eventLine = Type.Object({
  eventId: Type.String(),
  lastEventId: textOrNull,
  eventType: Type.String(),
  orderNo: Type.String(),
  occurredAt: time,
  recordedAt: time,
  deliveryStatus: oneOf(...deliveryStatuses),
  pushes: count,
  lastPushTime: timeOrNull,
});
export const eventsAnswer = Type.Object({ events: Type.Array(eventLine), nextCursor });

export const push = Type.Object({
  at: time,
  outcome: Type.String(),
  retryNo: count,
  httpStatus: integerOrNull,
  latencyMs: count,
  answer: textOrNull,
});
export const eventAnswer = Type.Object({
  event: eventLine,
  /** The payload as it is sent, with encrypted fields. The user id is masked for viewers. */
  data: Type.Unknown(),
  pushes: Type.Array(push),
  nextPushAt: timeOrNull,
});

export const replayRequest = Type.Object({ eventIds: Type.Array(text(40), { minItems: 1, maxItems: 1000 }) });
export const replayAnswer = Type.Object({ replayed: count });
export const pauseRequest = Type.Object({ eventType: Type.Optional(callbackType) });
export const pauseAnswer = Type.Object({ pausedEvents: Type.Array(callbackType), changed });

/** Requests a signed push that belongs to no order, to test a receiver. */
export const testEventRequest = Type.Object({ eventType: Type.Optional(oneOf(...eventTypes)) });
export const testEventAnswer = Type.Object({
  url: Type.String(),
  outcome: Type.String(),
  httpStatus: integerOrNull,
  latencyMs: count,
  answer: textOrNull,
});

export const requestsQuery = Type.Object({
  /** A result code of the API, such as 401002. `failed` means every code except success. */
  code: Type.Optional(text(16)),
  endpoint: Type.Optional(text(64)),
  requestId: Type.Optional(text(1024)),
  from: Type.Optional(moment),
  to: Type.Optional(moment),
  ...paging,
});
export const requestsAnswer = Type.Object({
  requests: Type.Array(
    Type.Object({
      at: time,
      endpoint: Type.String(),
      code: Type.String(),
      httpStatus: count,
      durationMs: count,
      requestId: Type.String(),
      /** The reason given to the caller, if the request was refused. */
      reason: textOrNull,
      address: Type.String(),
    }),
  ),
  nextCursor,
});
export const requestsSummary = Type.Object({
  /** The number of requests with each result code in the last 24 hours, most frequent first. */
  codes: Type.Array(Type.Object({ code: Type.String(), meaning: Type.String(), count })),
});
