/** Every time of Alipay is the wall clock of UTC+8, whatever the zone of this machine. */
const OFFSET_MS = 8 * 60 * 60 * 1000;
export const DAY_MS = 24 * 60 * 60 * 1000;

const TIME_FORM = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)?$/;

/** `yyyy-MM-dd HH:mm:ss` to Unix milliseconds; undefined for whatever is no time. */
export function readTime(text: unknown): number | undefined {
  const [, ...parts] = TIME_FORM.exec(typeof text === 'string' ? text.trim() : '') ?? [];
  if (parts.length === 0) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - OFFSET_MS;
}

export function formatTime(ms: number): string {
  return new Date(ms + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** The first moment of a day, `yyyy-MM-dd`. */
export function startOfDay(day: string): number {
  const start = readTime(`${day} 00:00:00`);
  if (start === undefined) throw new RangeError(`no day: ${day}`);
  return start;
}
