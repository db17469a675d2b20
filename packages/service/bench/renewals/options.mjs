import { parseArgs } from 'node:util';
import { UsageError } from '../options.mjs';

export const HELP = `npm run bench -- renewals [options]

  --orders N    due at once in mode B (200000)
  --idle N      times as many orders that are not due, for the row that has them (10)
  --deducted N  due at once in mode A (10000)
  --jobs N      of each peer and mode, a job per order (20000)
  --full        --orders 1000000 --idle 10: some 12 GB of disk and a quarter of an hour
  --rows A,B    only these: collected, idle, benefits, deducted, take-over, peers
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
  --json        the result as one JSON document on stdout, the table on stderr
`;

export const ROWS = ['collected', 'idle', 'benefits', 'deducted', 'take-over', 'peers'];
const MOST = 20_000_000;

/** Undefined: help was asked for. */
export function readOptions(args) {
  const values = parse(args);
  if (values.help) return undefined;
  const integer = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isInteger(value) && value >= 1 && value <= MOST) return value;
    throw new UsageError(`--${name} must be a whole number from 1 to ${MOST}, not "${values[name]}"`);
  };
  const rows = values.rows?.split(',').map((name) => name.trim()) ?? ROWS;
  const unknown = rows.find((name) => !ROWS.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no row "${unknown}"`);
  return {
    orders: integer('orders', values.full ? 1_000_000 : 200_000),
    idle: integer('idle', 10),
    deducted: integer('deducted', 10_000),
    jobs: integer('jobs', 20_000),
    rows: new Set(rows),
    postgres: values.postgres,
    json: values.json,
  };
}

function parse(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        orders: { type: 'string' },
        idle: { type: 'string' },
        deducted: { type: 'string' },
        jobs: { type: 'string' },
        full: { type: 'boolean', default: false },
        rows: { type: 'string' },
        postgres: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}
