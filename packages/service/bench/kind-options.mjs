import { parseArgs } from 'node:util';
import { UsageError } from './options.mjs';

const MOST = 20_000_000;

/**
 * Reads the options of a kind of bench: its options with a number (`numbers`) or a text (`texts`), and the options that
 * every kind has. Returns undefined if help was requested. `numbers` has for each option its default, and optionally a
 * different default for --full and a maximum.
 */
export function readKindOptions(args, { numbers, rows: all, usualRows = all, texts = [] }) {
  const values = parse(args, [...Object.keys(numbers), ...texts]);
  if (values.help) return undefined;
  const read = ([name, { usual, full = usual, most = MOST }]) => {
    const value = Number(values[name] ?? (values.full ? full : usual));
    if (Number.isInteger(value) && value >= 1 && value <= most) return [name, value];
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}, not "${values[name]}"`);
  };
  const rows = values.rows?.split(',').map((name) => name.trim()) ?? usualRows;
  const unknown = rows.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no row "${unknown}"`);
  return {
    ...Object.fromEntries(Object.entries(numbers).map(read)),
    ...Object.fromEntries(texts.map((name) => [name, values[name]])),
    rows: new Set(rows),
    postgres: values.postgres,
  };
}

function parse(args, named) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...Object.fromEntries(named.map((name) => [name, { type: 'string' }])),
        full: { type: 'boolean', default: false },
        rows: { type: 'string' },
        postgres: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}
