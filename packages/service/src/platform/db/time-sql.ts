import { rememberRecent } from '@perennial/wire';

/**
 * Converts a time to Unix milliseconds, truncated like its text. Uses double precision, because extract calculates in
 * numeric. Adds half a microsecond, the resolution of a time, against rounding errors.
 */
export const epochMs = (expression: string) => `floor(date_part('epoch', ${expression}) * 1000 + 0.0005)::bigint`;

/** Converts a time to Unix microseconds, the resolution of PostgreSQL. */
export const epochMicros = (expression: string) => `(extract(epoch from ${expression}) * 1000000)::bigint`;

/** Converts a parameter in Unix microseconds to a time, exactly. */
export const fromEpochMicros = (parameter: string) =>
  `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

/** Converts a parameter in Unix milliseconds to a time. */
export const fromEpochMs = (parameter: string) => `to_timestamp(${parameter}::double precision / 1000)`;

/**
 * Offset of Asia/Shanghai, the only one since 1991. Named by every expression that depends on a zone, because a pooler
 * or a role may give the session another. An offset, because looking up the zone by name takes half as long again as
 * all of `shanghaiText`.
 */
const ZONE = `interval '8 hours'`;

/** Converts a moment to the date and time in Asia/Shanghai, or such a date and time to a moment. */
export const inShanghaiZone = (expression: string) => `(${expression} at time zone ${ZONE})`;

/** Adds months, days or both to a moment by the calendar: 31 August plus a month is 30 September. */
export const addByCalendar = (moment: string, interval: string) =>
  inShanghaiZone(`(${inShanghaiZone(moment)} + ${interval})`);

/**
 * Formats a time as in the interface by truncating its text, the cheapest way. Every session has the DateStyle for it.
 */
export const shanghaiText = (expression: string) => `left(${inShanghaiZone(`(${expression})`)}::text, 19)`;

/** Converts Unix milliseconds to text for PostgreSQL. */
export const isoTime = rememberRecent((at) => new Date(at).toISOString());

export const isoTimeOrNull = (at: number | null) => (at === null ? null : isoTime(at));
