/** The currency of an installation that names none, and of a bridge or a service from before currencies were named. */
export const DEFAULT_CURRENCY = 'CNY';

/** Currencies whose unit is not divided into hundredths (ISO 4217), with MGA, whose unit has five parts. */
const WITHOUT_HUNDREDTHS =
  'BHD BIF CLF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD MGA OMR PYG RWF TND UGX UYI UYW VND VUV XAF XOF XPF';

/**
 * Returns the code of a currency in upper case. Throws for a currency without two decimals: every amount of the interface and of the
 * bridge's protocol is in hundredths, so 1990 would have to be guessed. The message begins with the offending text.
 */
export function parseCurrency(text: string): string {
  const currency = text.trim().toUpperCase();
  if (!/^[A-Z]{3}$/.test(currency)) {
    throw new Error(`${JSON.stringify(text)} is not the three letters of a currency, such as CNY, EUR or USD`);
  }
  if (WITHOUT_HUNDREDTHS.includes(currency)) {
    throw new Error(
      `${currency} cannot be used: amounts are in hundredths, and ${currency} does not have two decimals`,
    );
  }
  if (!Intl.supportedValuesOf('currency').includes(currency)) throw new Error(`${currency} is not a currency`);
  return currency;
}

type AmountLocale = 'en-GB' | 'zh-CN';

/** Returns what writes amounts, given in hundredths, with the sign of the currency: ¥1,234.50. A yuan is never written CN¥. */
export function createAmountFormat(
  currency: string,
  locale: AmountLocale,
  options: Intl.NumberFormatOptions = { minimumFractionDigits: 2, maximumFractionDigits: 2 },
): (cents: number) => string {
  const currencyDisplay = currency === 'CNY' ? 'narrowSymbol' : 'symbol';
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay, ...options });
  return (cents) => format.format(cents / 100);
}

/** Returns the sign that amounts are written with: ¥, €, CHF. */
export function findCurrencySign(currency: string, locale: AmountLocale): string {
  return createAmountFormat(currency, locale)(0).replaceAll(/[\d.,\s]/g, '');
}
