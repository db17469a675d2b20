import { type Argument, InvalidArgumentError, Option, type OptionValues } from 'commander';
import type { Io } from './io.js';

/** A command as it was called: its options by their names in camel case, and what stood beside them. */
export interface Call {
  readonly io: Io;
  readonly given: OptionValues;
  readonly words: readonly string[];
}

export interface CommandFacts {
  /** As it is typed, with spaces. */
  readonly name: string;
  readonly summary: string;
  /** What may follow the name besides options. */
  readonly argument?: Argument | undefined;
  readonly options: readonly Option[];
  /** More text for the help. */
  readonly notes?: string | undefined;
  readonly examples: readonly string[];
  /** Gives the exit status. */
  run(call: Call): Promise<number>;
}

/** For all commands, before or behind their names. */
export const COMMON_OPTIONS: readonly Option[] = [
  new Option(
    '--channel <file>',
    "file with the channel's credentials; default: the environment, or else data/demo-channel.json",
  ),
  new Option('--base-url <url>', 'address of the service; default: the one in the file or the environment'),
  new Option('--json', 'print JSON, errors too'),
];

/** An option whose value is a whole number. */
export const integerOption = (flags: string, about: string): Option =>
  new Option(flags, about).argParser((text) => {
    if (/^-?\d{1,15}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('It must be a whole number.');
  });

/** An option with several values, behind commas or by being given several times. */
export function listOption(flags: string, about: string, oneOf?: readonly string[]): Option {
  const option = new Option(flags, about);
  if (oneOf) option.choices(oneOf);
  return option.argParser<string[]>((text, before = []) => {
    const items = text.split(',');
    if (items.every((item) => oneOf?.includes(item) ?? true)) return [...before, ...items];
    throw new InvalidArgumentError(`Allowed choices are ${oneOf?.join(', ')}.`);
  });
}
