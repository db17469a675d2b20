import { visible } from '../../platform/visible.js';
import { Shown } from './shown.js';

/** Terminals give these two columns: CJK, kana, hangul, full-width forms and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** And these none: marks upon the letter before, joiners. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u;

function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += WIDE.test(character) ? 2 : NARROW.test(character) ? 0 : 1;
  return columns;
}

/** Columns under their titles, two spaces apart. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): Shown {
  if (rows.length === 0) return new Shown('nothing yet');
  return aligned([titles, ...rows]);
}

/** One record: a line for each field. */
export function record(fields: readonly (readonly [name: string, value: string])[]): Shown {
  return aligned(fields);
}

function aligned(raw: readonly (readonly string[])[]): Shown {
  const lines = raw.map((cells) => cells.map(visible));
  const widths: number[] = [];
  for (const cells of lines) {
    for (const [column, cell] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, width(cell));
  }
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - width(cell));
  return new Shown(lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n'));
}
