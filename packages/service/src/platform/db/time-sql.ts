import { rememberRecent } from '@perennial/wire';

/**
 * A time as Unix milliseconds, cut to them as its text is cut to seconds. As double precision: extract would calculate in
 * numeric. Half a microsecond, the least that a time differs by, makes up for what is lost on the way.
 */
export const epochMs = (expression: string) => `floor(date_part('epoch', ${expression}) * 1000 + 0.0005)::bigint`;

/** A time as Unix microseconds: PostgreSQL keeps no more digits. */
export const epochMicros = (expression: string) => `(extract(epoch from ${expression}) * 1000000)::bigint`;

/** A parameter in Unix microseconds as a time, exactly. */
export const fromEpochMicros = (parameter: string) =>
  `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

/** A parameter in Unix milliseconds as a time. */
export const fromEpochMs = (parameter: string) => `to_timestamp(${parameter}::double precision / 1000)`;

/**
 * Asia/Shanghai, which has had this offset and no other since 1991, and the node counts with the same. Named by every
 * expression that depends on a zone, so that none depends on the session's: a pooler or a role's settings may have another.
 * As an offset: looking the zone up by its name takes half as long again as all of `shanghaiText`.
 */
const ZONE = `interval '8 hours'`;

/** A moment as the date and time of the calendar in Asia/Shanghai; such a date and time as a moment. */
export const inShanghaiZone = (expression: string) => `(${expression} at time zone ${ZONE})`;

/** A moment and an interval of months, days or both, by the calendar: 31 August and a month is 30 September. */
export const addByCalendar = (moment: string, interval: string) =>
  inShanghaiZone(`(${inShanghaiZone(moment)} + ${interval})`);

/** A time as the interface writes it. Cutting its text is the cheapest way; every session has the DateStyle for it. */
export const shanghaiText = (expression: string) => `left(${inShanghaiZone(`(${expression})`)}::text, 19)`;

/** A time in Unix milliseconds as a text that PostgreSQL reads. */
export const isoTime = rememberRecent((at) => new Date(at).toISOString());

export const isoTimeOrNull = (at: number | null) => (at === null ? null : isoTime(at));
