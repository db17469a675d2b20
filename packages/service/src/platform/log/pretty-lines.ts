import { escapeInvisible } from '../visible.js';

/** A line of the log for people: time of the day, level, message, then the rest as name=value. An error has its places below. */
export function toPrettyLine(line: string): string {
  const { time, level, msg, node: _, err, error, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const failure = (err ?? error) as { type?: string; message?: string; code?: string; stack?: string } | undefined;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${visibleValue(value)}`);
  const why = failure === undefined ? [] : [`${failure.type}: ${escapeInvisible(failure.message ?? '')}`];
  const head = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), escapeInvisible(String(msg ?? ''))];
  const places =
    (failure?.stack || undefined)?.split('\n').map((place) => `\n    ${escapeInvisible(place.trim())}`) ?? [];
  return `${[...head, ...fields, ...why].join('  ')}${places.join('')}\n`;
}

function visibleValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return escapeInvisible(text);
}
