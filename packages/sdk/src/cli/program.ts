import { CHECK_RECEIVER } from './check-receiver/check-receiver-command.js';
import { ENDPOINT_COMMANDS } from './endpoints/endpoint-commands.js';
import { CHANNEL_OPTIONS, COMMON_OPTIONS, type Command, parseCall } from './frame/command.js';
import { describeCommand, listCommands } from './frame/help.js';
import { EXIT, type Io, UsageError } from './frame/io.js';
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
  const isHelp = first === undefined || first === 'help' || first === '--help' || first === '-h';
  if (isHelp) return printHelp(io, argv.slice(1), first === undefined);
  const found = findCommand(argv);
  if (found === undefined) throw new UsageError(`there is no command ${argv.filter(isWord).join(' ')}`);
  const { command, rest } = found;
  const call = parseCall(command, rest);
  if (call.given['help']) {
    io.out(describeCommand(command));
    return EXIT.ok;
  }
  return command.run({ io, ...call });
}

const isWord = (text: string): boolean => !text.startsWith('-');

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

/** By its words, or as an endpoint is written, with slashes. */
function findCommand(argv: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  const [first = '', ...others] = argv;
  const words = [...first.split('/'), ...others];
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, place) => words[place] === word));
  return command && { command, rest: words.slice(command.name.split(' ').length) };
}

function printHelp(io: Io, about: readonly string[], isMissing: boolean): number {
  const words = about.filter(isWord);
  if (words.length === 0) {
    const text = listCommands([
      ['Tools', TOOL_COMMANDS],
      ['Endpoints', ENDPOINT_COMMANDS],
    ]);
    if (isMissing) io.err(text);
    else io.out(text);
    return isMissing ? EXIT.usage : EXIT.ok;
  }
  const found = findCommand(words);
  if (found === undefined) throw new UsageError(`there is no command ${words.join(' ')}`);
  io.out(describeCommand(found.command));
  return EXIT.ok;
}
