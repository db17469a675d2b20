import { CommanderError } from 'commander';
import { jsonText } from '../platform/visible.js';
import { commandLine, type Terminal } from './frame/command.js';
import { terminalText } from './frame/shown.js';
import { program } from './program.js';

/** Runs one command, and answers its exit code. */
export async function run(
  argv: readonly string[],
  { env, stdout, stderr }: Omit<Terminal, 'badNews'>,
): Promise<number> {
  const json = argv.includes('--json');
  let isGood = true;
  const commands = commandLine({
    env,
    stdout,
    stderr,
    badNews: () => {
      isGood = false;
    },
  });
  const showHelp = (help: string) => {
    if (!json) stderr.write(help);
  };
  try {
    await program(commands, showHelp).parseAsync(argv, { from: 'user' });
    return isGood ? 0 : 1;
  } catch (error) {
    const line = problem(error, json);
    if (line !== undefined) stderr.write(failure(line, json));
    return error instanceof CommanderError ? error.exitCode : 1;
  }
}

/** As it is told. */
export function failure(line: string, json: boolean): string {
  return json ? `${jsonText({ error: line })}\n` : `perennial: ${terminalText(line)}\n`;
}

/** The one line, or nothing when commander has already shown what was asked for. */
function problem(error: unknown, json: boolean): string | undefined {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // A noun without a verb: the help it got says more.
    if (error.code === 'commander.help') return json ? 'no command is given' : undefined;
    return oneLine(error.message).replace(/^error: /, '');
  }
  return oneLine(error instanceof Error ? error.message : String(error)) || 'something went wrong';
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
