import { Count, Nullable, OutText, pagingFields, Text, Time } from './common.js';
import { type Static, Type } from './type.js';

/** A query for the latest requests of a channel. */
export const RequestsListRequest = Type.Object({
  code: Type.Optional(Text),
  requestId: Type.Optional(Text),
  size: pagingFields.size,
  cursor: pagingFields.cursor,
});
export type RequestsListRequest = Static<typeof RequestsListRequest>;

/** A request and its result. It has no body, because bodies are not stored. */
export const RequestRecord = Type.Object({
  requestId: OutText,
  answeredAt: Time,
  path: OutText,
  code: OutText,
  reason: Nullable(OutText),
  httpStatus: Count,
  durationMs: Count,
  address: OutText,
});
export type RequestRecord = Static<typeof RequestRecord>;

export const RequestsListData = Type.Object({
  requests: Type.Array(RequestRecord),
  nextCursor: Nullable(OutText),
});
export type RequestsListData = Static<typeof RequestsListData>;
