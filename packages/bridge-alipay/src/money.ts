/** Formats cents as yuan in Alipay's form, `19.90`. */
export function toYuan(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 0)
    throw new RangeError('the amount must be a non-negative integer of cents');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

const YUAN_FORM = /^(-?)(\d{1,12})(?:\.(\d{1,2}))?$/;

/** Parses an amount in yuan into cents, without floating point. Returns undefined for anything else. */
export function toCents(yuan: unknown): number | undefined {
  const [, sign, whole, rest = ''] = YUAN_FORM.exec(typeof yuan === 'number' ? String(yuan) : textOf(yuan)) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * 100 + Number(rest.padEnd(2, '0'));
  return sign === '-' && cents > 0 ? -cents : cents;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
