import { Command, CommanderError } from 'commander';
import { isEndpointName } from '../methods.js';
import { CHECK_RECEIVER } from './check-receiver/check-receiver-command.js';
import { ENDPOINT_COMMANDS } from './endpoints/endpoint-commands.js';
import { COMMON_OPTIONS, type CommandFacts } from './frame/command.js';
import { EXIT, type Io, UsageError } from './frame/io.js';
import { readVersion } from './frame/version.js';
import { GO_LIVE_CHECK } from './go-live/go-live-command.js';
import { LISTEN } from './listen/listen-command.js';
import { PROGRAM, showError } from './show-error.js';
import { TRIGGER } from './trigger/trigger-command.js';

const COMMANDS: readonly CommandFacts[] = [LISTEN, TRIGGER, CHECK_RECEIVER, GO_LIVE_CHECK, ...ENDPOINT_COMMANDS];

const NOTES = `
The channel's credentials are read from the first of these that exists:
  the file that --channel names
  the environment: PERENNIAL_BASE_URL, PERENNIAL_APP_ID, PERENNIAL_APP_SECRET, PERENNIAL_AES_KEY, PERENNIAL_CALLBACK_SECRET
  demo-channel.json in DATA_DIR, by default data: a sandbox writes it

Exit status: 0 done; 1 refused or failed; 2 invalid command line.`;

/** Runs the program and returns its exit status. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const isJson = argv.includes('--json');
  let status: number = EXIT.ok;
  const program = createProgram(io, isJson, async (facts, command) => {
    status = await run(facts, io, command);
  });
  try {
    await program.parseAsync(readWords(argv), { from: 'user' });
    return status;
  } catch (error) {
    // commander throws after showing help: a success if help was requested, a usage error if a command is missing.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return showError(io, error, isJson);
  }
}

/** Returns the words of the command. Splits endpoint names at the slash, and turns a leading `help` into --help. */
function readWords(argv: readonly string[]): string[] {
  const words = argv.flatMap((word) => (isEndpointName(word) ? word.split('/') : [word]));
  return words[0] === 'help' ? [...words.slice(1), '--help'] : words;
}

type Act = (facts: CommandFacts, command: Command) => Promise<void>;

function createProgram(io: Io, isJson: boolean, act: Act): Command {
  const program = new Command(PROGRAM)
    .version(readVersion(), '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => (isJson ? undefined : io.err(text.trimEnd())),
      // Not printed here: showError reports the error.
      outputError: () => undefined,
    })
    .addHelpText('after', NOTES);
  for (const option of COMMON_OPTIONS) program.addOption(option);
  endByThrowing(program, isJson);
  for (const facts of COMMANDS) addCommand(program, facts, isJson, act);
  return program;
}

function addCommand(program: Command, facts: CommandFacts, isJson: boolean, act: Act): void {
  const [last = '', ...above] = facts.name.split(' ').reverse();
  const command = above.reduceRight((group, word) => findGroup(group, word, isJson), program).command(last);
  endByThrowing(command, isJson);
  const examples = facts.examples.map((example) => `  ${PROGRAM} ${example}`).join('\n');
  command
    .description(facts.summary)
    .addHelpText('after', `${facts.notes ? `\n${facts.notes}\n` : ''}\nExamples:\n${examples}`);
  if (facts.argument) command.addArgument(facts.argument);
  for (const option of facts.options) command.addOption(option);
  command.action(() => act(facts, command));
}

/** Returns the group of all commands that begin with `word`. Its description lists these commands. */
function findGroup(parent: Command, word: string, isJson: boolean): Command {
  const known = parent.commands.find((one) => one.name() === word);
  if (known) return known;
  const group = parent.command(word);
  endByThrowing(group, isJson);
  const path = `${pathOf(group)} `;
  const inside = COMMANDS.filter(({ name }) => name.startsWith(path)).map(({ name }) => name.slice(path.length));
  return group.description(inside.join(', '));
}

function endByThrowing(command: Command, isJson: boolean): void {
  command.exitOverride((error) => {
    const isHelp = error.code === 'commander.help';
    if (error.exitCode === 0 || (isHelp && !isJson)) throw error;
    const said = isHelp ? 'name a command' : error.message.replace(/^error: /, '').replace(/(?<!\s)\s*\n\s*/g, ' ');
    throw usageErrorOf(pathOf(command), said);
  });
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}`.trimStart() : '';

const usageErrorOf = (path: string, said: string): UsageError =>
  new UsageError(path === '' ? said : `${path}: ${said}`, path);

async function run({ name, run }: CommandFacts, io: Io, command: Command): Promise<number> {
  try {
    return await run({ io, given: command.optsWithGlobals(), words: command.args });
  } catch (error) {
    throw error instanceof UsageError ? usageErrorOf(name, error.message) : error;
  }
}
