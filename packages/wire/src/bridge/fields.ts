import { DEFAULT_CURRENCY } from '../currency.js';

/** Functions that read a body and its fields. All but `reasonOf` return undefined if the value is invalid. */

export const MAX_NUMBER_LENGTH = 64;
/** The length limit for text in the service's interface. Shared agreement numbers come from there. */
export const MAX_TEXT_LENGTH = 1024;
const MAX_REASON_LENGTH = 200;
/** The end of the year 9999 in UTC+8. Later times have no four-digit year. */
const MAX_TIME = 253_402_271_999_999;

export type Fields = Readonly<Record<string, unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns the JSON object in `bytes`, or undefined. Deep nesting and unknown names are harmless, because callers read
 * only the fields that they know.
 */
export function readFields(bytes: Uint8Array): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(utf8.decode(bytes)));
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Returns the text, or undefined if it is empty, too long, or not storable (it has NUL or unpaired surrogates). */
export function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '' || value.includes('\u0000') || !isWellFormed(value)) return undefined;
  // Counts code points, like the limits of the service's own interface.
  return value.length <= maxLength || [...value].length <= maxLength ? value : undefined;
}

/** Reads a number or reference, such as attemptNo. It must be visible ASCII, so that a header can hold it. */
export function numberOf(value: unknown): string | undefined {
  return typeof value === 'string' && NUMBER_FORM.test(value) ? value : undefined;
}
const NUMBER_FORM = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NUMBER_LENGTH}}$`);

/** Reads an amount in cents or a count. It must be at least 1. */
export function positiveOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

/** Returns the message's currency. Defaults to CNY, because older versions do not send a currency. */
export function currencyOf(fields: Fields): string | undefined {
  const { currency = DEFAULT_CURRENCY } = fields as { readonly currency?: unknown };
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/** Reads a time in Unix milliseconds. */
export function timeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_TIME ? Number(value) : undefined;
}

/** Returns a text for operators and logs, or ''. Removes long numbers, because institutions may quote card numbers. */
export function reasonOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = isWellFormed(value) ? value : '';
  return text
    .slice(0, 1000)
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\d(?:[ -]?\d){8,}/g, '…')
    .slice(0, MAX_REASON_LENGTH)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
}

// Node has isWellFormed since version 20, but TypeScript declares it only in es2024.
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();
