import { formatTime, parseTime } from '@perennial/wire';
import { CODE_PATTERN } from '../catalog/products/catalog.js';
import { NotFoundError, refusal } from './operator.js';

/** Control characters and line separators, which would garble tables and logs. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

export function requireCode(what: string, value: string): string {
  if (CODE_PATTERN.test(value)) return value;
  throw refusal('code-malformed')`${what} must be 1 to 64 characters of A-Z, 0-9 and _, not ${quoted(value)}`;
}

export function requireName(what: string, value: string): string {
  const name = value.trim();
  const length = [...name].length;
  if (length < 1 || length > 200) throw refusal('name-length')`${what} must have 1 to 200 characters, not ${length}`;
  if (UNPRINTABLE.test(name)) throw refusal('holds-control-characters')`${what} must not contain control characters`;
  return name;
}

export function requireLength(what: string, length: number, maxLength: number): void {
  if (length >= 1 && length <= maxLength) return;
  throw refusal('text-length')`${what} must have 1 to ${maxLength} characters, not ${length}`;
}

/** Checks a text of several lines. Line breaks and tabs are the only control characters allowed. */
export function requireText(what: string, value: string, maxLength: number): string {
  const text = value.replaceAll('\r\n', '\n').trim();
  requireLength(what, [...text].length, maxLength);
  if (UNPRINTABLE.test(text.replaceAll(/[\n\t]/g, ''))) {
    throw refusal('holds-control-characters')`${what} must not contain control characters`;
  }
  return text;
}

const DIRECTIONS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;
/** Invisible characters. A name must not consist only of these. */
const UNSEEN = /[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Checks a line that users see. Refuses characters that change the direction of the surrounding text. */
export function requireShownText(what: string, value: string, maxLength: number): string {
  const text = value.trim();
  requireLength(what, text.replaceAll(UNSEEN, '') === '' ? 0 : [...text].length, maxLength);
  if (UNPRINTABLE.test(text) || /\p{Cs}/u.test(text)) {
    throw refusal('holds-control-characters')`${what} must not contain control characters`;
  }
  if (DIRECTIONS.test(text)) {
    throw refusal('holds-direction-characters')`${what} must not contain characters that change the text direction`;
  }
  return text;
}

export function requireInteger(what: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw refusal('number-out-of-range')`${what} must be a whole number from ${min} to ${max}, not ${value}`;
}

export function requireOneOf<T extends string>(what: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw refusal('not-one-of')`${what} must be ${allowed.join(' or ')}, not ${quoted(value)}`;
}

export function requireUnique(what: string, values: readonly string[]): void {
  const twice = values.find((value, position) => values.indexOf(value) !== position);
  if (twice !== undefined) throw refusal('given-twice')`${what} ${quoted(twice)} is given twice`;
}

export function requireAtMost(what: string, values: readonly unknown[], max: number): void {
  if (values.length > max) throw refusal('too-many')`${what} may be at most ${max}, not ${values.length}`;
}

/** Returns the first row. Throws if there is none. */
export function requireFound<T>([row]: readonly T[], what: string, name: string): T {
  if (row === undefined) throw createNotFound(what, name);
  return row;
}

export function createNotFound(what: string, name: string): NotFoundError {
  return refusal('not-there', NotFoundError)`there is no ${what} ${quoted(name)}`;
}

/** Parses a time or a day in Asia/Shanghai. A day means its midnight. Returns Unix milliseconds. */
export function parseMoment(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = parseTime(text) ?? parseTime(`${text} 00:00:00`);
  if (at !== undefined) return at;
  throw refusal('time-malformed')`${quoted(text)} is not a time such as 2026-01-31 or 2026-01-31 12:00:00`;
}

/** Returns true for a day (yyyy-MM-dd). PostgreSQL has no year 0. */
export const isDay = (text: string): boolean =>
  /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && parseTime(`${text} 00:00:00`) !== undefined;

/** Returns a day in Asia/Shanghai (yyyy-MM-dd). Throws unless the day has passed. */
export function requirePastDay(text: string, now: number): string {
  if (!isDay(text)) {
    throw refusal('day-malformed')`the day must have the form 2026-01-31, not ${quoted(text)}`;
  }
  if (text >= formatTime(now).slice(0, 10)) throw refusal('day-not-over')`${text} is not over yet in Asia/Shanghai`;
  return text;
}

/** Quotes a value for a message. Escapes line breaks, and shortens a long value. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
