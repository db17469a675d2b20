import { DEFAULT_CURRENCY } from '../currency.js';

/** Readers of single fields of a body: a valid value, or undefined. */

export const MAX_NUMBER_LENGTH = 64;
/** As long as a text may be in the service's own interface: a shared agreement number comes from there. */
export const MAX_TEXT_LENGTH = 1024;
const MAX_REASON_LENGTH = 200;
/** The end of the year 9999: beyond it a time cannot be written down. */
const MAX_TIME = 253_402_300_799_999;

export type Fields = Readonly<Record<string, unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** One JSON object in UTF-8, or undefined. Fields are then picked one by one, so depth and odd names do no harm. */
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

/** Text that can be stored and sent on: not empty, no NUL, no half surrogate pairs. */
export function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '' || value.includes('\u0000') || !isWellFormed(value)) return undefined;
  // Code points, as the service's own interface counts them.
  return value.length <= maxLength || [...value].length <= maxLength ? value : undefined;
}

/** attemptNo, refundNo, institutionRef: visible ASCII, so that they can stand in a header. */
export function numberOf(value: unknown): string | undefined {
  return typeof value === 'string' && NUMBER_FORM.test(value) ? value : undefined;
}
const NUMBER_FORM = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NUMBER_LENGTH}}$`);

/** Cents, or a count from 1. */
export function positiveOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

/** The currency that a message names. CNY for a message without one: versions from before currencies were named leave it out. */
export function currencyOf(fields: Fields): string | undefined {
  const { currency = DEFAULT_CURRENCY } = fields as { readonly currency?: unknown };
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/** Unix milliseconds. */
export function timeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_TIME ? Number(value) : undefined;
}

/** A text for people and logs. An institution may quote a card in it, so long numbers are removed. Empty if it is not text. */
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

// In V8 since Node 20, in TypeScript's library only from es2024.
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();
