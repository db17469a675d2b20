import { type Argument, InvalidArgumentError, Option, type OptionValues } from 'commander';
import type { Io } from './io.js';

/** A call of a command: its options by camel-case name, and its arguments. */
export interface Call {
  readonly io: Io;
  readonly given: OptionValues;
  readonly words: readonly string[];
}

export interface CommandFacts {
  /** The command's words as typed, separated by spaces. */
  readonly name: string;
  readonly summary: string;
  /** The argument that may follow the name. */
  readonly argument?: Argument | undefined;
  readonly options: readonly Option[];
  /** Additional help text. */
  readonly notes?: string | undefined;
  readonly examples: readonly string[];
  /** Returns the exit status. */
  run(call: Call): Promise<number>;
}

/** Options that all commands have. They can be before or after the command's name. */
export const COMMON_OPTIONS: readonly Option[] = [
  new Option(
    '--channel <file>',
    "file with the channel's credentials; default: the environment, otherwise demo-channel.json in DATA_DIR or data",
  ),
  new Option('--base-url <url>', 'address of the service; default: the one in the file or the environment'),
  new Option('--json', 'print JSON, errors too'),
];

export const integerOption = (flags: string, about: string): Option =>
  new Option(flags, about).argParser((text) => {
    if (/^-?\d{1,15}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('It must be a whole number.');
  });

/** Creates an option that can have several values, separated by commas or by repeating the option. */
export function listOption(flags: string, about: string, oneOf?: readonly string[]): Option {
  const option = new Option(flags, about);
  if (oneOf) option.choices(oneOf);
  return option.argParser<string[]>((text, before = []) => {
    const items = text.split(',');
    if (items.every((item) => oneOf?.includes(item) ?? true)) return [...before, ...items];
    throw new InvalidArgumentError(`Allowed choices are ${oneOf?.join(', ')}.`);
  });
}
