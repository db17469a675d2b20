import { parseArgs } from 'node:util';

export class UsageError extends Error {}

/** Every attack ends by itself after so many seconds. */
const SECONDS = { usual: 60, short: 20, most: 600, means: 'the attack ends after so many' };
const numbersOf = ({ numbers }) => ({ ...numbers, seconds: { ...SECONDS, ...numbers.seconds } });

/**
 * What is to be done: attacks with their numbers. One attack alone has its own numbers as options, all of them together the
 * choice of some. Undefined: help was asked for.
 */
export function readOptions(args, attacks, { isAlone }) {
  const values = parse(args, isAlone ? Object.keys(numbersOf(attacks[0])) : ['attacks']);
  if (values.help) return undefined;
  const chosen = values.attacks?.split(',').map((name) => name.trim()) ?? attacks.map(({ name }) => name);
  const unknown = chosen.find((name) => !attacks.some((attack) => attack.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no attack "${unknown}"`);
  const read = ([name, { usual, short, most = 1_000_000 }]) => {
    const value = Number(values[name] ?? (values.short ? short : usual));
    if (Number.isInteger(value) && value >= 1 && value <= most) return [name, value];
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}, not "${values[name]}"`);
  };
  return {
    json: values.json,
    short: values.short,
    attacks: attacks
      .filter(({ name }) => chosen.includes(name))
      .map((attack) => ({ attack, options: Object.fromEntries(Object.entries(numbersOf(attack)).map(read)) })),
  };
}

function parse(args, names) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        short: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

export function help(attacks, { isAlone }) {
  const [first] = attacks;
  const own = isAlone
    ? Object.entries(numbersOf(first)).map(([name, { usual, means }]) => [`--${name} N`, `${means} (${usual})`])
    : [['--attacks A,B', `only these: ${attacks.map(({ name }) => name).join(', ')}`]];
  const rows = [
    ...own,
    ['--short', 'with small numbers, all on one service'],
    ['--json', 'the results as one JSON document on stdout, the table on stderr'],
  ];
  const width = Math.max(...rows.map(([option]) => option.length));
  const title = isAlone ? `${first.name}: ${first.about}` : 'all attacks, one after another';
  return `${title}\n\n${rows.map(([option, means]) => `  ${option.padEnd(width)}  ${means}\n`).join('')}`;
}
