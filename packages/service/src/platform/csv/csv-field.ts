/** Characters with which a spreadsheet formula may begin, including their full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

type Value = string | number | null;

/** Escapes a value. If a spreadsheet might run the text as a formula, puts an apostrophe before it. */
export const csvField = (value: Value): string => quoteWhere(/[",\r\n]/, value);

function quoteWhere(special: RegExp, value: Value): string {
  const plain = String(value ?? '');
  const text = FORMULA_START.test(plain) ? `'${plain}` : plain;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a line as defined by RFC 4180. */
export const csvLine = (values: readonly Value[]): string => `${values.map(csvField).join(',')}\r\n`;

/** Excel recognizes UTF-8 only with this mark. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Returns a line for a file that operators open in Excel. Also quotes fields that contain tabs or semicolons, because
 * Excel separates fields by semicolons where the comma is the decimal separator.
 */
export const spreadsheetLine = (values: readonly Value[]): string =>
  `${values.map((value) => quoteWhere(/[",;\t\r\n]/, value)).join(',')}\r\n`;
