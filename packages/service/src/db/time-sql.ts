/**
 * A time as Unix milliseconds, cut to them as its text is cut to seconds. As double precision: extract would calculate in
 * numeric. Half a microsecond, the least that a time differs by, makes up for what is lost on the way.
 */
export const ms = (expression: string) => `floor(date_part('epoch', ${expression}) * 1000 + 0.0005)::bigint`;

/** A time as Unix microseconds, which is all of it. */
export const micros = (expression: string) => `(extract(epoch from ${expression}) * 1000000)::bigint`;

/** A parameter in Unix microseconds as a time, exactly. */
export const instantOfMicros = (parameter: string) =>
  `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

/** A parameter in Unix milliseconds as a time. */
export const instant = (parameter: string) => `to_timestamp(${parameter}::double precision / 1000)`;

/** A time as the interface writes it. The session's time zone is Asia/Shanghai; cutting its text is the cheapest way. */
export const written = (expression: string) => `left((${expression})::text, 19)`;
