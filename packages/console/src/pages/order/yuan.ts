/** What somebody typed as yuan, in cents. Undefined when it is no amount. Digit by digit: a fraction of a cent is no rounding. */
export function parseYuan(text: string): number | undefined {
  const [, whole, fraction = ''] =
    /^\s*[¥￥]?\s*(\d{1,9})(?:[.．。](\d{1,2}))?\s*$/.exec(text.replaceAll(',', '')) ?? [];
  return whole === undefined ? undefined : Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}

/** As it stands in a field: 29.90. */
export const yuanText = (cents: number): string => (cents / 100).toFixed(2);
