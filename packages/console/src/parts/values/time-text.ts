import { now } from '../../clock.ts';
import { getLanguage, localeOf } from '../../i18n/language.ts';

export const BEIJING = 'Asia/Shanghai';
export const VIEWERS_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Parses the API's times: yyyy-MM-dd HH:mm:ss in Asia/Shanghai, which is UTC+8 all year. */
export const momentOf = (value: string): Date =>
  new Date(`${value.slice(0, 10)}T${value.slice(11) || '00:00:00'}+08:00`);

const formats = new Map<string, Intl.DateTimeFormat>();
/** Returns a cached format, because creating one takes longer than a table row. */
function format(
  zone: string,
  options: Intl.DateTimeFormatOptions,
  locale = localeOf(getLanguage()),
): Intl.DateTimeFormat {
  const key = `${locale} ${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone: zone, ...options });
  formats.set(key, known);
  return known;
}

const DAY = { day: 'numeric', month: 'short' } as const;
const MINUTE = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const SECOND = { ...MINUTE, second: '2-digit' } as const;

const yearOf = (moment: Date, zone: string) => format(zone, { year: 'numeric' }).format(moment);

/** Formats a time: 16 Nov 2026, 18:03. Omits the year if it is the current year. */
export function timeText(moment: Date, zone: string, withSeconds = false): string {
  const isThisYear = yearOf(moment, zone) === yearOf(new Date(now()), zone);
  const day = format(zone, isThisYear ? DAY : { ...DAY, year: 'numeric' }).format(moment);
  const hour = format(zone, withSeconds ? SECOND : MINUTE).format(moment);
  return getLanguage() === 'en' ? `${day}, ${hour}` : `${day} ${hour}`;
}

export const dayText = (moment: Date, zone = BEIJING): string =>
  format(zone, { ...DAY, year: 'numeric' }).format(moment);
export const shortDayText = (moment: Date, zone = BEIJING): string => format(zone, DAY).format(moment);
export const monthText = (moment: Date, zone = BEIJING): string =>
  format(zone, { month: 'short', year: 'numeric' }).format(moment);
export const hourText = (moment: Date, zone = BEIJING): string => format(zone, MINUTE).format(moment);

/** Returns the UTC offset of a zone, such as UTC+8. The offset 0 is UTC: some browsers name it GMT+0, others GMT. */
export function offsetText(moment: Date, zone: string): string {
  const parts = format(zone, { timeZoneName: 'shortOffset' }, 'en').formatToParts(moment);
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC')
    .replace('GMT', 'UTC')
    .replace(/[+-]0$/, '');
}

/** Returns whether the operator's local time differs from Beijing time. */
export const isElsewhere = (moment: Date): boolean => offsetText(moment, VIEWERS_ZONE) !== offsetText(moment, BEIJING);

const STEPS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Separates digits from Chinese characters, as the texts of the console do: 3 分钟前. Intl writes 3分钟前. */
export const spaceDigits = (text: string): string => text.replace(/\d(?=\p{Script=Han})|\p{Script=Han}(?=\d)/gu, '$& ');

/** Formats a time relative to now: 3 minutes ago, in 2 days. */
export function agoText(moment: Date): string {
  const seconds = (moment.getTime() - now()) / 1000;
  const words = new Intl.RelativeTimeFormat(localeOf(getLanguage()), { numeric: 'auto' });
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return spaceDigits(words.format(Math.round(seconds / length), unit));
}

/** Formats a duration, for example as 1 hr 5 mins or as 40 secs. */
export function durationText(seconds: number): string {
  const locale = localeOf(getLanguage());
  const inUnit = (value: number, unit: string) =>
    spaceDigits(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value));
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return inUnit(whole, 'second');
  const minutes = Math.ceil(whole / 60);
  if (minutes < 60) return inUnit(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return [inUnit(hours, 'hour'), minutes % 60 > 0 ? inUnit(minutes % 60, 'minute') : ''].join(' ').trim();
}
