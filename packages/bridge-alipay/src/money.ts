/** Yuan as Alipay writes them, `19.90`, from cents. */
export function toYuan(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 0) throw new RangeError('an amount is an integer of cents');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

const YUAN_FORM = /^(-?)(\d{1,12})(?:\.(\d{1,2}))?$/;

/** Cents from yuan, without a detour over fractions; undefined for whatever is no amount. */
export function toCents(yuan: unknown): number | undefined {
  const [, sign, whole, rest = ''] = YUAN_FORM.exec(typeof yuan === 'number' ? String(yuan) : textOf(yuan)) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * 100 + Number(rest.padEnd(2, '0'));
  return sign === '-' && cents > 0 ? -cents : cents;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
