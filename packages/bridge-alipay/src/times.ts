/** The offset of Alipay's times, which are wall-clock times in UTC+8. */
const OFFSET_MS = 8 * 60 * 60 * 1000;
export const DAY_MS = 24 * 60 * 60 * 1000;

const TIME_FORM = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)?$/;

/** Parses `yyyy-MM-dd HH:mm:ss` into Unix milliseconds, without fractions. Returns undefined for any other form. */
export function readTime(text: unknown): number | undefined {
  const [, ...parts] = TIME_FORM.exec(typeof text === 'string' ? text.trim() : '') ?? [];
  if (parts.length === 0) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - OFFSET_MS;
}

export function formatTime(ms: number): string {
  return new Date(ms + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Returns the first millisecond of a day, `yyyy-MM-dd`. */
export function startOfDay(day: string): number {
  const start = readTime(`${day} 00:00:00`);
  if (start === undefined) throw new RangeError(`not a day: ${day}`);
  return start;
}
