/** 1234, 1234.5, 1,234.50: at most two digits after the point, and commas between thousands or nowhere. */
const AMOUNT = /^\s*(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.(\d{1,2}))?$/;

/**
 * Returns what somebody typed, with or without the sign of the currency, in cents. Undefined when it is not plainly an amount: 1,5
 * may be meant as one and a half. Digit by digit, so that nothing is rounded.
 */
export function parseAmount(text: string, sign: string): number | undefined {
  // A Chinese keyboard writes its own point, comma and sign.
  const typed = text
    .trim()
    .replaceAll(/[．。]/g, '.')
    .replaceAll('，', ',')
    .replace(/^￥/, '¥');
  const [, whole, fraction = ''] = AMOUNT.exec(typed.startsWith(sign) ? typed.slice(sign.length) : typed) ?? [];
  return whole === undefined ? undefined : Number(whole.replaceAll(',', '')) * 100 + Number(fraction.padEnd(2, '0'));
}

/** As it stands in a field: 29.90. */
export const amountText = (cents: number): string => (cents / 100).toFixed(2);
