import { rememberRecent } from '@perennial/wire';

/**
 * SQL: converts a time to Unix milliseconds. Truncates the time instead of rounding it, like `shanghaiText`. Uses
 * double precision, because `extract` returns numeric, which is slower. Adds half a microsecond against rounding
 * errors, because times have microseconds.
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
 * The offset of Asia/Shanghai, unchanged since 1991. Every expression that depends on a time zone names this offset or
 * a zone, so that the zone of the session does not matter. Uses an offset instead of the zone's name, because looking
 * up the name would make `shanghaiText` take 50 % more time.
 */
const ZONE = `interval '8 hours'`;

/** SQL: converts a moment to the date and time in Asia/Shanghai, or a date and time there to a moment. */
export const inShanghaiZone = (expression: string) => `(${expression} at time zone ${ZONE})`;

/** SQL: adds months and days to a moment by the calendar: 31 August plus one month is 30 September. */
export const addByCalendar = (moment: string, interval: string) =>
  inShanghaiZone(`(${inShanghaiZone(moment)} + ${interval})`);

/**
 * SQL: formats a time as in the API. Truncates the text of the time, which is the cheapest way; every session has the
 * DateStyle that this needs.
 */
export const shanghaiText = (expression: string) => `left(${inShanghaiZone(`(${expression})`)}::text, 19)`;

/** Converts Unix milliseconds to a text that PostgreSQL accepts as a time. */
export const isoTime = rememberRecent((at) => new Date(at).toISOString());

export const isoTimeOrNull = (at: number | null) => (at === null ? null : isoTime(at));
