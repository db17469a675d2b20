import { createAmountFormat, DEFAULT_CURRENCY, findCurrencySign } from '@perennial/wire/currency';
import { getLanguage, localeOf, useLanguage } from '../../i18n/language.ts';

const short: Intl.NumberFormatOptions = {
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumFractionDigits: 1,
  // Compact Chinese amounts below 10,000 would have no comma, unlike all other amounts.
  useGrouping: true,
};

const createFormats = (currency: string) => ({
  currency,
  exact: { en: createAmountFormat(currency, 'en-GB'), zh: createAmountFormat(currency, 'zh-CN') },
  compact: { en: createAmountFormat(currency, 'en-GB', short), zh: createAmountFormat(currency, 'zh-CN', short) },
});
let formats = createFormats(DEFAULT_CURRENCY);

/** Sets the currency. Called when the session is loaded, before any amount is shown. */
export function setCurrency(currency: string): void {
  if (currency !== formats.currency) formats = createFormats(currency);
}
export const getCurrency = (): string => formats.currency;

/** Returns the currency sign that is shown before an amount field. */
export const currencySign = (): string => findCurrencySign(formats.exact[getLanguage()]);

/** Formats cents in the installation's currency: ¥1,234.50. */
export const moneyText = (cents: number): string => formats.exact[getLanguage()](cents).replace('-', '−');

/** Formats cents in short form for axes and tiles: ¥1.2M, ¥123万. */
export const shortMoneyText = (cents: number): string => formats.compact[getLanguage()](cents).replace('-', '−');

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
