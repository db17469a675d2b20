import { toReadable } from '../../parts/values/readable.ts';

/** Returns an entry's detail as one line: a change as "before → after", other fields as names with values. */
export function detailText(detail: unknown): string {
  const readable = toReadable(detail);
  if (typeof readable !== 'object' || readable === null) return readable === null ? '' : String(readable);
  const { from, to, ...rest } = readable as Record<string, unknown>;
  const change = from === undefined && to === undefined ? [] : [`${valueText(from)} → ${valueText(to)}`];
  return [...change, ...Object.entries(rest).map(([name, value]) => `${name}: ${valueText(value)}`)].join(' · ');
}

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
