/** First characters that make a spreadsheet read a text as a formula, including full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

type Value = string | number | null;

/** A text that a channel has chosen must not run as a formula in a spreadsheet: an apostrophe before it makes it text. */
export const csvField = (value: Value): string => quoteWhere(/[",\r\n]/, value);

function quoteWhere(special: RegExp, value: Value): string {
  const plain = String(value ?? '');
  const text = FORMULA_START.test(plain) ? `'${plain}` : plain;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line as RFC 4180 has it. */
export const csvLine = (values: readonly Value[]): string => `${values.map(csvField).join(',')}\r\n`;

/** Without it Excel does not take a file for UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * A line for a file that people open by a click: where commas are decimal points, Excel separates by semicolons, and what holds one
 * is quoted too.
 */
export const spreadsheetLine = (values: readonly Value[]): string =>
  `${values.map((value) => quoteWhere(/[",;\t\r\n]/, value)).join(',')}\r\n`;
