import { parseArgs } from 'node:util';
import { type Io, UsageError } from './io.js';
import { findNearest } from './nearest.js';

export interface Option {
  /** Without its hyphens. */
  readonly name: string;
  readonly kind: 'text' | 'integer' | 'flag' | 'list';
  /** What stands for its value in the help. */
  readonly value?: string;
  readonly about: string;
  readonly isNeeded?: boolean;
  readonly oneOf?: readonly string[];
}

export type Given = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Call {
  readonly io: Io;
  readonly given: Given;
  readonly words: readonly string[];
}

export interface Command {
  /** As it is typed, with spaces. */
  readonly name: string;
  readonly summary: string;
  /** What may follow the name besides options, as the help shows it. */
  readonly words?: string;
  readonly maxWords: number;
  readonly options: readonly Option[];
  /** More lines for the help. */
  readonly notes?: readonly string[];
  readonly examples: readonly string[];
  /** Whether it needs a channel, and so takes the options for it. */
  readonly usesChannel: boolean;
  /** Gives the exit status. */
  run(call: Call): Promise<number>;
}

export const CHANNEL_OPTIONS: readonly Option[] = [
  {
    name: 'channel',
    kind: 'text',
    value: 'FILE',
    about: "file with the channel's credentials; default: the environment, or else data/demo-channel.json",
  },
  {
    name: 'base-url',
    kind: 'text',
    value: 'URL',
    about: 'address of the service; default: the one in the file or the environment',
  },
];

export const COMMON_OPTIONS: readonly Option[] = [
  { name: 'json', kind: 'flag', about: 'print JSON, errors too' },
  { name: 'help', kind: 'flag', about: 'print this help' },
];

export const optionsOf = ({ options, usesChannel }: Command): readonly Option[] => [
  ...options,
  ...(usesChannel ? CHANNEL_OPTIONS : []),
  ...COMMON_OPTIONS,
];

/** Reads what follows the name of a command. */
export function parseCall(command: Command, args: readonly string[]): Omit<Call, 'io'> {
  const options = optionsOf(command);
  const { values, positionals } = parse(options, args);
  if (values['help'] === true) return { given: { help: true }, words: [] };
  if (positionals.length > command.maxWords) {
    throw new UsageError(`it does not take "${positionals[command.maxWords]}"`);
  }
  const given: Record<string, Given[string]> = {};
  for (const option of options) given[option.name] = readValue(option, values[option.name]);
  return { given, words: positionals };
}

function parse(options: readonly Option[], args: readonly string[]) {
  const shapes = Object.fromEntries(
    options.map(({ name, kind }) => [
      name,
      {
        type: kind === 'flag' ? ('boolean' as const) : ('string' as const),
        multiple: kind === 'list',
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options: shapes, allowPositionals: true });
  } catch (error) {
    throw new UsageError(readProblem((error as Error).message, options));
  }
}

/** What parseArgs says, without its advice for values that begin with a hyphen. */
function readProblem(message: string, options: readonly Option[]): string {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? [];
  if (unknown !== undefined) {
    const names = options.map(({ name }) => name);
    const nearest = findNearest(unknown, names);
    return `there is no option --${unknown}${nearest === undefined ? '' : `: did you mean --${nearest}?`}`;
  }
  const [, valueless] = /^Option '(--\S+?)(?: <value>)?' argument (?:is ambiguous|missing)/.exec(message) ?? [];
  const [first = message] = message.split('. To specify');
  return valueless === undefined ? first : `${valueless} needs a value`;
}

function readValue({ name, kind, oneOf }: Option, value: unknown): Given[string] {
  if (value === undefined) return undefined;
  if (kind === 'flag') return value === true;
  const texts = (Array.isArray(value) ? value.flatMap((one: string) => one.split(',')) : [value]) as string[];
  for (const text of texts) {
    if (oneOf !== undefined && !oneOf.includes(text)) {
      throw new UsageError(`--${name} must be ${kind === 'list' ? 'any of' : 'one of'} ${oneOf.join(', ')}`);
    }
  }
  if (kind === 'list') return texts;
  const [text = ''] = texts;
  if (kind === 'text') return text;
  if (!/^-?\d{1,15}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
  return Number(text);
}

export const textOf = (given: Given, name: string): string | undefined => {
  const value = given[name];
  return typeof value === 'string' ? value : undefined;
};

export const listOf = (given: Given, name: string): readonly string[] | undefined => {
  const value = given[name];
  return Array.isArray(value) ? value : undefined;
};
