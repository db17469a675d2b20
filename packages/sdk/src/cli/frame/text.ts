/** Characters that a terminal hides or interprets: control characters, line separators and direction marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes text from elsewhere safe for one line: escapes the characters that a terminal hides or interprets. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns JSON on one line, without characters that a terminal interprets. */
export const writeJson = (value: unknown): string => visible(JSON.stringify(value));

/** Characters that are two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu;

const widthOf = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** Aligns cells in columns, two spaces apart. */
export function align(rows: readonly (readonly string[])[], indent = ''): string {
  const shown = rows.map((cells) => cells.map(visible));
  const widths: number[] = [];
  for (const cells of shown) {
    for (const [column, cell] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return shown.map((cells) => indent + cells.map(pad).join('  ').trimEnd()).join('\n');
}

/** Returns functions that colour text, or leave it unchanged. */
export function createPaint(hasColours: boolean) {
  const of = (code: number) => (text: string) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { red: of(31), green: of(32), yellow: of(33) };
}
