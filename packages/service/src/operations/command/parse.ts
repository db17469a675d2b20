import { parseCurrency } from '@perennial/wire/currency';

/** Parsers of values on the command line. They check only the form; the steps check which values are allowed. */

/** An error that commander recognizes by its code and reports with the option's name. */
export class InvalidValue extends Error {
  readonly code = 'commander.invalidArgument';
  readonly exitCode = 1;
}

export function parseWholeNumber(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidValue('It must be a whole number.');
}

/** Reads `off` as `none`. */
export function parseWholeNumberOrOff(value: string): number | 'none' {
  if (value === 'off') return 'none';
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidValue('It must be a whole number, or off.');
}

/** Collects options that may be repeated or contain several comma-separated values. */
export function appendList(value: string, before: readonly string[] = []): string[] {
  return [...before, ...value.split(',').map((part) => part.trim())];
}

/** Like `appendList`, but `none` is an empty list. */
export function appendListOrNone(value: string, before: readonly string[] = []): string[] {
  return value === 'none' ? [] : appendList(value, before);
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `1h,3h`, or `none`. */
export function parseDurations(value: string): number[] {
  return appendListOrNone(value).map((part) => {
    const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(part) ?? [];
    const seconds = SECONDS[unit];
    if (seconds === undefined) throw new InvalidValue('It must be durations such as 1h,3h or 1d, or none.');
    return Number(count) * seconds;
  });
}

/** Formats a number of seconds in the largest unit that gives a whole number. */
export function formatDuration(seconds: number): string {
  const unit = ['d', 'h', 'm'].find((one) => seconds % (SECONDS[one] ?? 1) === 0) ?? 's';
  return `${seconds / (SECONDS[unit] ?? 1)}${unit}`;
}

/** `8-22`. */
export function parseHours(value: string): { from: number; to: number } {
  const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(value) ?? [];
  if (from === undefined) throw new InvalidValue('It must be two hours of the day such as 8-22, or none.');
  return { from: Number(from), to: Number(to) };
}

interface Benefit {
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly name: string;
}

/** Parses `VIP_PASS:1500:VIP pass`. The name may contain colons and defaults to the code. */
export function appendBenefit(value: string, before: readonly Benefit[] = []): Benefit[] {
  const [, benefitCode, cents, name] = /^([^:]+):(\d+)(?::(.+))?$/.exec(value) ?? [];
  if (benefitCode === undefined) {
    throw new InvalidValue('It must be CODE:FACE_VALUE_CENT or CODE:FACE_VALUE_CENT:NAME.');
  }
  return [...before, { benefitCode, faceValueCent: Number(cents), name: name ?? benefitCode }];
}

export function parseCurrencyOption(value: string): string {
  try {
    return parseCurrency(value);
  } catch (error) {
    throw new InvalidValue(error instanceof Error ? `${error.message}.` : '');
  }
}

export function parseOnOff(value: string): boolean {
  if (value === 'on' || value === 'off') return value === 'on';
  throw new InvalidValue('It must be on or off.');
}
