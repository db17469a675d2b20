/** First characters that make a spreadsheet read a text as a formula, including full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

/** A text that a channel has chosen must not run as a formula in a spreadsheet: an apostrophe before it makes it text. */
export function csvField(value: string | number | null): string {
  const plain = String(value ?? '');
  const text = FORMULA_START.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line as RFC 4180 has it. */
export const csvLine = (values: readonly (string | number | null)[]): string => `${values.map(csvField).join(',')}\r\n`;
