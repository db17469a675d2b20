/** A time as Unix milliseconds. As double precision: extract would calculate in numeric. */
export const ms = (expression: string) => `(date_part('epoch', ${expression}) * 1000)::bigint`;

/** A parameter in Unix milliseconds as a time. */
export const instant = (parameter: string) => `to_timestamp(${parameter}::double precision / 1000)`;

/** A time as the interface writes it. The session's time zone is Asia/Shanghai; cutting its text is the cheapest way. */
export const written = (expression: string) => `left((${expression})::text, 19)`;
