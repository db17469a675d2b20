import width from 'string-width';
import { escapeInvisible } from '../../platform/escape-invisible.js';
import { SafeText } from './safe-text.js';

/** Aligns columns under their titles, two spaces apart. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): SafeText {
  if (rows.length === 0) return new SafeText('nothing yet');
  return aligned([titles, ...rows]);
}

/** Prints a line for each field that is not null. */
export function record(fields: readonly (readonly [name: string, value: string | null])[]): SafeText {
  return aligned(fields.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

function aligned(raw: readonly (readonly string[])[]): SafeText {
  const lines = raw.map((cells) => cells.map(escapeInvisible));
  const widths: number[] = [];
  for (const cells of lines) {
    for (const [column, cell] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, width(cell));
  }
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - width(cell));
  return new SafeText(lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n'));
}
