import { rememberRecent } from './remember-recent.js';

const DAY_MS = 86_400_000;
/** The interface's zone is a fixed offset; historic daylight saving of Asia/Shanghai plays no part. */
const ZONE_MS = 8 * 3_600_000;
const DAYS_BEFORE_1970 = 719_468;
const DAYS_PER_ERA = 146_097;

const MIN_LOCAL_MS = daysFromDate(0, 1, 1) * DAY_MS;
const MAX_LOCAL_MS = daysFromDate(9999, 12, 31) * DAY_MS + DAY_MS - 1;

const TWO_DIGITS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

const WIRE_FORM = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/;
const ISO_FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):(\d\d))?$/;

/** Milliseconds since 1970 to `yyyy-MM-dd HH:mm:ss` in UTC+8; parts of a second are dropped. */
export function formatTime(epochMs: number): string {
  return formatSecond(Math.floor(epochMs / 1000));
}

const formatSecond = rememberRecent(secondText);

function secondText(epochSecond: number): string {
  const local = epochSecond * 1000 + ZONE_MS;
  if (!(local >= MIN_LOCAL_MS && local <= MAX_LOCAL_MS)) {
    throw new RangeError(`no four-digit year for second ${epochSecond}`);
  }
  const days = Math.floor(local / DAY_MS);
  const second = Math.floor((local - days * DAY_MS) / 1000);

  // Years counted from 1 March, so that the leap day is the last day of a year and every month length is regular.
  const shifted = days + DAYS_BEFORE_1970;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);

  return (
    `${two(Math.floor(year / 100))}${two(year % 100)}-${two(month)}-${two(day)} ` +
    `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
  );
}

/**
 * The interface's own format, or ISO 8601; without an offset either is UTC+8. What does not name a moment that
 * formatTime can print again is undefined.
 */
export function parseTime(text: string): number | undefined {
  const match = WIRE_FORM.exec(text) ?? ISO_FORM.exec(text);
  if (match === null) return undefined;
  const field = (index: number): number => Number(match[index] ?? 0);
  const year = field(1);
  const month = field(2);
  const day = field(3);
  const hour = field(4);
  const minute = field(5);
  const second = field(6);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetMs(match[8], match[9], field(10), field(11));
  if (offset === undefined) return undefined;

  const millis = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const wallClock = daysFromDate(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + millis;
  const epochMs = wallClock - offset;
  const local = epochMs + ZONE_MS;
  return local >= MIN_LOCAL_MS && local <= MAX_LOCAL_MS ? epochMs : undefined;
}

function offsetMs(
  utc: string | undefined,
  sign: string | undefined,
  hours: number,
  minutes: number,
): number | undefined {
  if (utc !== undefined) return 0;
  if (sign === undefined) return ZONE_MS;
  if (hours > 23 || minutes > 59) return undefined;
  const size = (hours * 60 + minutes) * 60_000;
  return sign === '-' ? -size : size;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function daysFromDate(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const monthFromMarch = month > 2 ? month - 3 : month + 9;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_BEFORE_1970;
}

function two(n: number): string {
  return TWO_DIGITS[n] ?? '';
}
