/** Matches 1234, 1234.5 and 1,234.50: at most two decimals, and commas between all thousands or none. */
const AMOUNT = /^\s*(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.(\d{1,2}))?$/;

/**
 * Parses a typed amount, with or without the currency sign, into cents. Returns undefined for other text, also if it is
 * ambiguous: 1,5 may mean one and a half. Reads the digits as text, so that nothing is rounded.
 */
export function parseAmount(text: string, sign: string): number | undefined {
  // Chinese keyboards have their own characters for the point, the comma and the currency sign.
  const typed = text
    .trim()
    .replaceAll(/[．。]/g, '.')
    .replaceAll('，', ',')
    .replace(/^￥/, '¥');
  const [, whole, fraction = ''] = AMOUNT.exec(typed.startsWith(sign) ? typed.slice(sign.length) : typed) ?? [];
  return whole === undefined ? undefined : Number(whole.replaceAll(',', '')) * 100 + Number(fraction.padEnd(2, '0'));
}

/** Formats cents for a field: 29.90. */
export const amountText = (cents: number): string => (cents / 100).toFixed(2);
