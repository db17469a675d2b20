import { parseArgs } from 'node:util';
import { ROWS } from './rows.mjs';

export const HELP = `npm run bench -- [options]
npm run bench -- renewals | deliveries | overload | console | growth | capacity [options of their own: --help]

  --seconds N     of each measured run, 1 to 60 (2)
  --runs N        of each row and of what it is measured beside, 1 to 20 (5)
  --rows A,B      only these:
                  ${[...new Set(ROWS.flatMap((row) => [row.endpoint ?? row.kind, row.kind, row.name]))].join('\n                  ')}
  --log-level L   of the service: warn, or info with a line for each request (warn)
  --profile DIR   a CPU profile of the service in DIR (figures are then not comparable)
`;

export class UsageError extends Error {}

/** Reads the command line's options. Returns undefined if help was requested. */
export function readOptions(args) {
  const { values } = parse(args);
  if (values.help) return undefined;
  const integer = (name, max) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= max) return value;
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}, not "${values[name]}"`);
  };
  const oneOf = (name, allowed) => {
    if (allowed.includes(values[name])) return values[name];
    throw new UsageError(`--${name} must be ${allowed.join(' or ')}, not "${values[name]}"`);
  };
  const asked = values.rows?.split(',').map((name) => name.trim());
  const isAsked = (row, name) => [row.endpoint ?? row.kind, row.kind, row.name].includes(name);
  const unknown = asked?.find((name) => !ROWS.some((row) => isAsked(row, name)));
  if (unknown !== undefined) throw new UsageError(`there is no row "${unknown}"`);
  const rows = ROWS.filter((row) => !asked || asked.some((name) => isAsked(row, name)));
  return {
    seconds: integer('seconds', 60),
    runs: integer('runs', 20),
    rows,
    logLevel: oneOf('log-level', ['warn', 'info']),
    profile: values.profile,
  };
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        seconds: { type: 'string', default: '2' },
        runs: { type: 'string', default: '5' },
        rows: { type: 'string' },
        'log-level': { type: 'string', default: 'warn' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error.message);
  }
}
