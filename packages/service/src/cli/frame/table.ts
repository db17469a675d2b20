import width from 'string-width';
import { visible } from '../../platform/visible.js';
import { Shown } from './shown.js';

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
