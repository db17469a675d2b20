import { parseCurrency } from '@perennial/wire/currency';
import { InvalidArgumentError } from 'commander';
import type { ProductBenefitView } from '../../catalog/products/product-provisioning-sql.js';

/** Parsers of option values: they check only the form; which values are allowed is checked by the actions. */

export function parseWholeNumber(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** For options that can remove a value. Not null, which commander turns into an empty text. */
export type OrNone<T> = T | 'none';

export function parseWholeNumberOrNone(value: string): OrNone<number> {
  return value === 'none' ? value : parseWholeNumber(value);
}

export function parseWholeNumberOrOff(value: string): number | 'off' {
  if (value === 'off' || /^\d+$/.test(value)) return value === 'off' ? value : Number(value);
  throw new InvalidArgumentError('It must be a whole number, or off.');
}

/** For options that may be repeated and may also hold several values with commas. */
export function appendList(value: string, before: readonly string[] = []): string[] {
  return [...before, ...parseList(value)];
}

export function parseList(value: string): string[] {
  return value.split(',').map((part) => part.trim());
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `1h,3h`, or `none`. */
export function parseDurations(value: string): number[] {
  if (value === 'none') return [];
  return parseList(value).map((part) => {
    const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(part) ?? [];
    const seconds = SECONDS[unit];
    if (seconds === undefined) throw new InvalidArgumentError('It must be durations such as 1h,3h or 1d, or none.');
    return Number(count) * seconds;
  });
}

/** Seconds in the largest unit that divides them. */
export function formatDuration(seconds: number): string {
  const unit = ['d', 'h', 'm'].find((one) => seconds % (SECONDS[one] ?? 1) === 0) ?? 's';
  return `${seconds / (SECONDS[unit] ?? 1)}${unit}`;
}

/** `8-22`, or `none`. */
export function parseHours(value: string): OrNone<{ from: number; to: number }> {
  if (value === 'none') return value;
  const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(value) ?? [];
  if (from === undefined) throw new InvalidArgumentError('It must be two hours of the day such as 8-22, or none.');
  return { from: Number(from), to: Number(to) };
}

/** `VIP_PASS:1500:VIP pass`; the name may hold colons, and is the code when left out. */
export function appendBenefit(value: string, before: readonly ProductBenefitView[] = []): ProductBenefitView[] {
  const [, benefitCode, cents, name] = /^([^:]+):(\d+)(?::(.+))?$/.exec(value) ?? [];
  if (benefitCode === undefined) {
    throw new InvalidArgumentError('It must be CODE:FACE_VALUE_CENT or CODE:FACE_VALUE_CENT:NAME.');
  }
  return [...before, { benefitCode, faceValueCent: Number(cents), name: name ?? benefitCode }];
}

export function parseCurrencyOption(value: string): string {
  try {
    return parseCurrency(value);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : '');
  }
}

export function parseOnOff(value: string): boolean {
  if (value === 'on' || value === 'off') return value === 'on';
  throw new InvalidArgumentError('It must be on or off.');
}
