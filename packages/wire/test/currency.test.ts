import { expect, it, vi } from 'vitest';
import { createAmountFormat, findCurrencySign, parseCurrency } from '../src/currency.js';

it('a currency is three letters, with hundredths', () => {
  expect(['CNY', 'eur', ' usd ', 'HUF', 'XCD'].map(parseCurrency)).toEqual(['CNY', 'EUR', 'USD', 'HUF', 'XCD']);
  for (const text of ['JPY', 'krw', 'KWD', 'ISK', 'MGA', 'CLF']) {
    expect(() => parseCurrency(text)).toThrow(`${text.toUpperCase()} cannot be used: amounts are in hundredths`);
  }
  for (const text of ['', 'yuan', 'C1Y', '¥', 'CN']) expect(() => parseCurrency(text)).toThrow('three letters');
  expect(() => parseCurrency('ZZZ')).toThrow('ZZZ is not a currency');
});

it('an amount is written with the sign of its currency', () => {
  const written = (currency: string) =>
    (['en-GB', 'zh-CN'] as const).map((locale) => createAmountFormat(currency, locale)(123_450).replace(/\s/, ' '));
  expect(written('CNY')).toEqual(['¥1,234.50', '¥1,234.50']);
  expect(written('EUR')).toEqual(['€1,234.50', '€1,234.50']);
  expect(written('USD')).toEqual(['US$1,234.50', 'US$1,234.50']);
  expect(written('CHF')).toEqual(['CHF 1,234.50', 'CHF 1,234.50']);
  // Forints have two decimals by ISO 4217, although the decimals are rarely written.
  expect(written('HUF')).toEqual(['HUF 1,234.50', 'HUF 1,234.50']);
  expect(['CNY', 'EUR', 'USD', 'CHF'].map((one) => findCurrencySign(createAmountFormat(one, 'en-GB')))).toEqual([
    '¥',
    '€',
    'US$',
    'CHF',
  ]);
});

it('formats for a currency cost nothing before the first amount', () => {
  const created = vi.spyOn(Intl, 'NumberFormat');
  createAmountFormat('CNY', 'zh-CN');
  expect(created).not.toHaveBeenCalled();
  created.mockRestore();
});
