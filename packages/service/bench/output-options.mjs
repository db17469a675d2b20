import { UsageError } from './options.mjs';

const TOLERANCE = 25;
const ROW_LIMIT_SECONDS = 3_600;

export const OUTPUT_HELP = `
of every kind:
  --json [FILE]            the result as one JSON document: in FILE, or on stdout with the table on stderr
  --compare [FILE]         the ratios of this run beside those of a baseline (bench/baseline.json)
  --tolerance N            in percent: by how much a ratio may be below the baseline's before it is worse (${TOLERANCE})
  --write-baseline [FILE]  makes the ratios of this run the baseline of their kind (bench/baseline.json)
  --from FILE              with one of these two: the ratios of FILE, made by --json, and nothing is measured
  --row-limit N            seconds after which a row has failed (${ROW_LIMIT_SECONDS})

A row that fails says why, and the others are measured and printed all the same. Exit status: 0, or 1 when a row failed, or 2
when none did and a ratio is worse than the baseline's.
`;

/** For each option, whether its value is required or optional. */
const WANTS = {
  json: 'may',
  compare: 'may',
  'write-baseline': 'may',
  tolerance: 'must',
  from: 'must',
  'row-limit': 'must',
};

/**
 * Removes the output options, which every kind of bench has, from the arguments. An option without its optional file
 * has the value `true`.
 */
export function takeOutputOptions(args) {
  const rest = [];
  const values = {};
  for (let at = 0; at < args.length; at += 1) {
    const [, name, given] = /^--([\w-]+)(?:=(.*))?$/.exec(args[at]) ?? [];
    if (!Object.hasOwn(WANTS, name ?? '')) {
      rest.push(args[at]);
      continue;
    }
    const next = args[at + 1];
    const follows = given === undefined && next !== undefined && !next.startsWith('--');
    if (WANTS[name] === 'must' && given === undefined && !follows) throw new UsageError(`--${name} wants a value`);
    values[name] = given ?? (follows ? next : true);
    if (follows) at += 1;
  }
  const isNamed = values.compare !== undefined || values['write-baseline'] !== undefined;
  if (values.from !== undefined && !isNamed) throw new UsageError('--from wants --compare or --write-baseline');
  return {
    rest,
    json: values.json,
    compare: values.compare,
    writeBaseline: values['write-baseline'],
    from: values.from,
    tolerance: numberOf(values, 'tolerance', TOLERANCE),
    limitSeconds: numberOf(values, 'row-limit', ROW_LIMIT_SECONDS),
  };
}

function numberOf(values, name, usual) {
  const value = Number(values[name] ?? usual);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new UsageError(`--${name} must be a whole number from 1 on, not "${values[name]}"`);
}
