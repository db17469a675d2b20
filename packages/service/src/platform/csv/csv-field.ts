/** Characters with which a spreadsheet formula may begin, including their full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

/** An amount in a field of its own. It is no formula, even if it is negative. */
interface Amount {
  readonly exact: string;
}

type Value = string | number | null | Amount;

/** Escapes a value. If a spreadsheet might run the text as a formula, puts an apostrophe before it. */
export const csvField = (value: Value): string => quoteWhere(/[",\r\n]/, value);

function quoteWhere(special: RegExp, value: Value): string {
  if (typeof value === 'number') return String(value);
  if (value !== null && typeof value === 'object') return value.exact;
  const plain = value ?? '';
  const text = FORMULA_START.test(plain) ? `'${plain}` : plain;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a line as defined by RFC 4180. */
export const csvLine = (values: readonly Value[]): string => `${values.map(csvField).join(',')}\r\n`;

/** Excel recognizes UTF-8 only with this mark. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Returns a line for a file that operators open in Excel. Also quotes fields that contain tabs or semicolons, because
 * Excel separates fields by semicolons where the comma is the decimal separator. A text that looks like a long number
 * gets a tab after it, as in the bills of Alipay. Otherwise Excel shows 1.0E+11 and drops digits.
 */
export const spreadsheetLine = (values: readonly Value[]): string =>
  `${values.map((value) => quoteWhere(/[",;\t\r\n]/, keepDigits(value))).join(',')}\r\n`;

/** Excel shows numbers with more than 11 digits as powers of ten. It drops leading zeros. */
const keepDigits = (value: Value): Value =>
  typeof value === 'string' && /^(?:\d{12,}|0\d+)$/.test(value) ? `${value}\t` : value;

/**
 * Returns the header and a function for the rows of a file with these fields. A field of cents, such as `amountCent`, is the
 * column `amount` with two decimals.
 */
export function createCsvTable<Field extends string>(fields: readonly Field[], toLine = spreadsheetLine) {
  return {
    header: toLine(fields.map((field) => field.replace(/Cent$/, ''))),
    toRow: (values: Readonly<Record<Field, string | number | null>>): string =>
      toLine(
        fields.map((field) => {
          const value = values[field];
          return field.endsWith('Cent') && typeof value === 'number' ? amountField(value) : value;
        }),
      ),
  };
}

/** Formats cents as an amount without its currency, exactly: -1234 is -12.34. */
function amountField(cents: number): Amount {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return { exact: `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` };
}
