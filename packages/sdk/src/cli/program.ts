import { createRequire } from 'node:module';
import { CHECK_RECEIVER } from './check-receiver/check-receiver-command.js';
import { ENDPOINT_COMMANDS } from './endpoints/endpoint-commands.js';
import { CHANNEL_OPTIONS, COMMON_OPTIONS, type Command, parseCall } from './frame/command.js';
import { describeCommand, describeGroup, listCommands } from './frame/help.js';
import { EXIT, type Io, UsageError } from './frame/io.js';
import { findNearest } from './frame/nearest.js';
import { LISTEN } from './listen/listen-command.js';
import { showError } from './show-error.js';
import { TRIGGER } from './trigger/trigger-command.js';

export const TOOL_COMMANDS: readonly Command[] = [LISTEN, TRIGGER, CHECK_RECEIVER];
export const COMMANDS: readonly Command[] = [...TOOL_COMMANDS, ...ENDPOINT_COMMANDS];

/** The whole program: gives the exit status. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(moveLeadingOptions(argv), io);
  } catch (error) {
    return showError(io, error, argv.includes('--json'));
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  if (first === '--version') return print(io, readVersion());
  if (isHelp(first)) return print(io, describe(wordsOf(argv.slice(1))));
  const found = findCommand(argv);
  if (found === undefined) return runNone(argv, io);
  const { command, rest } = found;
  try {
    const call = parseCall(command, rest);
    return call.given['help'] ? print(io, describeCommand(command)) : await command.run({ io, ...call });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${command.name}: ${error.message}`, command.name);
  }
}

const isHelp = (text: string | undefined): boolean => text === 'help' || text === '--help' || text === '-h';

function print(io: Io, text: string): number {
  io.out(text);
  return EXIT.ok;
}

/** Nothing that is a command: a group alone is shown with its commands, since who types it wants to know them. */
function runNone(argv: readonly string[], io: Io): number {
  const words = wordsOf(argv);
  const isWhole = words.length === 0 || commandsIn(words).length > 0;
  if (isWhole && argv.some(isHelp)) return print(io, describe(words));
  if (!isWhole) throw noSuchCommand(words);
  if (argv.some((text) => text.startsWith('-'))) {
    const group = words.join(' ');
    throw new UsageError(group === '' ? `which command? ${argv[0]} is none` : `${group}: which command?`, group);
  }
  io.err(describe(words));
  return EXIT.usage;
}

/** From package.json, which is above the sources and above what they are bundled into. */
function readVersion(): string {
  const { version } = createRequire(import.meta.url)('perennial-channel/package.json') as { version: string };
  return version;
}

/** Options for all commands may stand before the command as well. */
function moveLeadingOptions(argv: readonly string[]): readonly string[] {
  const known = [...CHANNEL_OPTIONS, ...COMMON_OPTIONS.filter(({ name }) => name !== 'help')];
  const leading: string[] = [];
  let rest = argv;
  for (;;) {
    const option = known.find(({ name }) => rest[0] === `--${name}` || rest[0]?.startsWith(`--${name}=`));
    if (option === undefined) return [...rest, ...leading];
    const length = option.kind === 'flag' || rest[0]?.includes('=') ? 1 : 2;
    leading.push(...rest.slice(0, length));
    rest = rest.slice(length);
  }
}

/** What stands before the first option, with the words of an endpoint apart. */
function wordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((text) => text.startsWith('-'));
  const [first = '', ...others] = end === -1 ? argv : argv.slice(0, end);
  return [...first.split('/'), ...others].filter((word) => word !== '');
}

const beginsWith = (words: readonly string[], beginning: readonly string[]): boolean =>
  beginning.every((word, place) => words[place] === word);

/** By its words, or as an endpoint is written, with slashes. */
function findCommand(argv: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  const [first = '', ...others] = argv;
  const words = [...first.split('/'), ...others];
  const command = COMMANDS.find(({ name }) => beginsWith(words, name.split(' ')));
  return command && { command, rest: words.slice(command.name.split(' ').length) };
}

/** Those whose names begin with these words. */
const commandsIn = (words: readonly string[]): readonly Command[] =>
  COMMANDS.filter(({ name }) => beginsWith(name.split(' '), words));

/** The help of a command, of a group, or of all when there are no words. */
function describe(words: readonly string[]): string {
  if (words.length === 0) {
    return listCommands([
      ['Tools', TOOL_COMMANDS],
      ['Endpoints', ENDPOINT_COMMANDS],
    ]);
  }
  const found = findCommand(words);
  if (found !== undefined) return describeCommand(found.command);
  const inGroup = commandsIn(words);
  if (inGroup.length === 0) throw noSuchCommand(words);
  return describeGroup(words.join(' '), inGroup);
}

/** With what is probably meant. */
function noSuchCommand(words: readonly string[]): UsageError {
  const places = [...words.keys()].toReversed();
  const nearest = places.map((place) => findNearest(words.slice(0, place + 1).join(' '), namesOf(place + 1)));
  const [meant] = nearest.filter((name) => name !== undefined);
  const hint = meant === undefined ? '' : `: did you mean ${meant}?`;
  const known = places.map((place) => words.slice(0, place)).find((group) => commandsIn(group).length > 0) ?? [];
  return new UsageError(`there is no command ${words.join(' ')}${hint}`, known.join(' '));
}

/** Commands and groups of so many words. */
const namesOf = (count: number): readonly string[] => [
  ...new Set(COMMANDS.map(({ name }) => name.split(' ').slice(0, count)).map((words) => words.join(' '))),
];
