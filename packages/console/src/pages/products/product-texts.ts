import type { Product } from '../../api/types.ts';
import { getLanguage, localeOf } from '../../i18n/language.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { durationText, spaceDigits } from '../../parts/values/time-text.ts';
import { useTexts } from './texts.ts';

/** Returns a function that gives a product's price in words. */
export function usePriceText() {
  const t = useTexts();
  return ({ amountCent, period, periodType }: Pick<Product, 'amountCent' | 'period' | 'periodType'>) => {
    const amount = moneyText(amountCent);
    if (period === 1) return t(periodType === 'DAY' ? 'perDay' : 'perMonth', { amount });
    return t(periodType === 'DAY' ? 'perDays' : 'perMonths', { amount, count: period });
  };
}

const SECONDS = { m: 60, h: 3600, d: 86_400 } as const;

/** Parses delays such as 30m, 6h, 1d into seconds. Returns undefined if the text is invalid. */
export function parseDelays(text: string): number[] | undefined {
  const delays = text
    .split(/[\s,;，；]+/)
    .filter((one) => one !== '')
    .map((one) => {
      const [, count, unit] = /^(\d{1,4})([mhd])$/i.exec(one) ?? [];
      const seconds = count === undefined ? 0 : Number(count) * SECONDS[unit?.toLowerCase() as keyof typeof SECONDS];
      return seconds >= SECONDS.m && seconds <= 30 * SECONDS.d ? seconds : undefined;
    });
  if (delays.length > 10) return undefined;
  return delays.every((one) => one !== undefined) ? delays : undefined;
}

/** Formats a delay in the form that can be typed: 3600 is 1h. */
export const delayText = (seconds: number): string => {
  if (seconds % SECONDS.d === 0) return `${seconds / SECONDS.d}d`;
  return seconds % SECONDS.h === 0 ? `${seconds / SECONDS.h}h` : `${Math.round(seconds / SECONDS.m)}m`;
};

/** Formats a delay for reading: 6 hrs, 2 days. */
export function delayWords(seconds: number): string {
  if (seconds % SECONDS.d !== 0) return durationText(seconds);
  const days = { style: 'unit', unit: 'day', unitDisplay: 'long' } as const;
  return spaceDigits(new Intl.NumberFormat(localeOf(getLanguage()), days).format(seconds / SECONDS.d));
}
