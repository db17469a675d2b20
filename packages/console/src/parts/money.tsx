import { getLanguage, localeOf, useLanguage } from '../i18n/language.ts';

const inYuan = (locale: string, options: Intl.NumberFormatOptions = {}) =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'CNY', currencyDisplay: 'narrowSymbol', ...options });

const exact = { en: inYuan('en-GB'), zh: inYuan('zh-CN') };
const short: Intl.NumberFormatOptions = { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1 };
const compact = { en: inYuan('en-GB', short), zh: inYuan('zh-CN', short) };

/** Cents as yuan: ¥1,234.50. */
export const moneyText = (cents: number): string => exact[getLanguage()].format(cents / 100).replace('-', '−');

/** For axes and tiles: ¥1.2M, ¥123万. */
export const shortMoneyText = (cents: number): string => compact[getLanguage()].format(cents / 100).replace('-', '−');

export function Money({ cents }: { readonly cents: number | null | undefined }) {
  useLanguage();
  if (cents === null || cents === undefined) return <span className="quiet">–</span>;
  return <span className="figures">{moneyText(cents)}</span>;
}

export const countText = (count: number): string => new Intl.NumberFormat(localeOf(getLanguage())).format(count);

export function Count({ value }: { readonly value: number }) {
  useLanguage();
  return <span className="figures">{countText(value)}</span>;
}
