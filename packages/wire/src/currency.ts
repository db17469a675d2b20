import { rememberRecent } from './remember-recent.js';

/** The default currency, also assumed for bridges and services of older versions, which do not name a currency. */
export const DEFAULT_CURRENCY = 'CNY';

/** Currencies whose minor unit is not a hundredth (ISO 4217), and MGA, whose unit has five parts. */
const WITHOUT_HUNDREDTHS =
  'BHD BIF CLF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD MGA OMR PYG RWF TND UGX UYI UYW VND VUV XAF XOF XPF';

/**
 * Returns the currency code in upper case. Throws if it is unknown or does not have two decimals, because all amounts
 * in the interface and the bridge protocol are hundredths. The error message begins with `text` or the
 * currency code.
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

/** Returns a function that formats hundredths with the currency's symbol: ¥1,234.50. Yuan amounts have ¥, never CN¥. */
export function createAmountFormat(
  currency: string,
  locale: AmountLocale,
  options: Intl.NumberFormatOptions = { minimumFractionDigits: 2, maximumFractionDigits: 2 },
): (cents: number) => string {
  const currencyDisplay = currency === 'CNY' ? 'narrowSymbol' : 'symbol';
  let format: Intl.NumberFormat | undefined;
  // Cached, because most amounts are prices, and Intl takes some microseconds for each.
  return rememberRecent((cents) => {
    // Created for the first amount, because each takes a phone tens of milliseconds.
    format ??= new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay, ...options });
    return format.format(cents / 100);
  });
}

/** Returns the symbol that an amount format writes: ¥, €, CHF. */
export const findCurrencySign = (amountText: (cents: number) => string): string =>
  amountText(0).replaceAll(/[\d.,\s]/g, '');
