import { parseArgs } from 'node:util';
import { UsageError } from '../options.mjs';

export const ROWS = ['rate', 'pinned', 'backlog', 'hung', 'peers'];

export const HELP = `npm run bench -- deliveries [options]

  --events N    of the engine's runs (100000)
  --jobs N      of each peer's runs, a job per event (20000)
  --backlog N   of the row that has many events behind it (200000)
  --burst N     written at once, a tenth of them for a receiver that hangs (5000)
  --runs N      of each row but backlog and hung, 1 to 20; medians are shown (3)
  --full        --backlog 1000000: some 3 GB of disk
  --processes N that send, of the engine and of each peer, 1 to 16 (1)
  --rows A,B    only these: ${ROWS.join(', ')}
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
  --json        the result as one JSON document on stdout, the table on stderr
`;

const MOST = 20_000_000;

/** Undefined: help was asked for. */
export function readOptions(args) {
  const values = parse(args);
  if (values.help) return undefined;
  const integer = (name, otherwise, max = MOST) => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isInteger(value) && value >= 1 && value <= max) return value;
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}, not "${values[name]}"`);
  };
  const rows = values.rows?.split(',').map((name) => name.trim()) ?? ROWS;
  const unknown = rows.find((name) => !ROWS.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no row "${unknown}"`);
  return {
    events: integer('events', 100_000),
    jobs: integer('jobs', 20_000),
    backlog: integer('backlog', values.full ? 1_000_000 : 200_000),
    burst: integer('burst', 5_000),
    runs: integer('runs', 3, 20),
    processes: integer('processes', 1, 16),
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
        events: { type: 'string' },
        jobs: { type: 'string' },
        backlog: { type: 'string' },
        burst: { type: 'string' },
        runs: { type: 'string' },
        processes: { type: 'string' },
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
