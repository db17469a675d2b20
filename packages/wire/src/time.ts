import { rememberRecent } from './remember-recent.js';

const DAY_MS = 86_400_000;
/** The interface uses a fixed offset, UTC+8. The daylight saving time that Asia/Shanghai once had does not matter. */
const ZONE_MS = 8 * 3_600_000;
const DAYS_BEFORE_1970 = 719_468;
const DAYS_PER_ERA = 146_097;

const MIN_LOCAL_MS = Date.parse('0000-01-01T00:00:00.000Z');
const MAX_LOCAL_MS = Date.parse('9999-12-31T23:59:59.999Z');

const TWO_DIGITS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

const FORM = /^(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):(\d\d))?$/;

/** Formats Unix milliseconds as `yyyy-MM-dd HH:mm:ss` in UTC+8 and drops fractions of a second. */
export function formatTime(epochMs: number): string {
  return formatSecond(Math.floor(epochMs / 1000));
}

const formatSecond = rememberRecent(secondText);

/** Computes the date itself, because Date takes twice as long. */
function secondText(epochSecond: number): string {
  const local = epochSecond * 1000 + ZONE_MS;
  if (!(local >= MIN_LOCAL_MS && local <= MAX_LOCAL_MS)) {
    throw new RangeError(`no four-digit year for second ${epochSecond}`);
  }
  const days = Math.floor(local / DAY_MS);
  const second = Math.floor((local - days * DAY_MS) / 1000);

  // Counts years from 1 March, so that the leap day is the last day of a year and the lengths of months are regular.
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
 * Parses the interface's format or ISO 8601, by default in UTC+8. Returns undefined for other texts, and for times that
 * formatTime cannot print.
 */
export function parseTime(text: string): number | undefined {
  const [, date, joint, time, parts = '', utc, sign, hours = '0', minutes = '0'] = FORM.exec(text) ?? [];
  const isMixed = joint === ' ' && text.length > 'yyyy-MM-dd HH:mm:ss'.length;
  if (isMixed || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const wallClock = `${date}T${time}.${parts.slice(0, 3).padEnd(3, '0')}Z`;
  const wallClockMs = Date.parse(wallClock);
  // Date.parse accepts 30 February as 2 March, so the result is formatted again and compared.
  if (Number.isNaN(wallClockMs) || new Date(wallClockMs).toISOString() !== wallClock) return undefined;
  const size = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const offset = utc ? 0 : sign === undefined ? ZONE_MS : sign === '-' ? -size : size;
  const local = wallClockMs - offset + ZONE_MS;
  return local >= MIN_LOCAL_MS && local <= MAX_LOCAL_MS ? local - ZONE_MS : undefined;
}

function two(n: number): string {
  return TWO_DIGITS[n] ?? '';
}
