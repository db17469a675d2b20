import { DEFAULT_CURRENCY } from '@perennial/wire/currency';

/** Formats an amount with its currency: 19.90 CNY. */
export function formatAmount(cents: number, currency: string = DEFAULT_CURRENCY): string {
  return `${(cents / 100).toFixed(2)} ${currency}`;
}
