import { CommanderError } from 'commander';
import { toTerminalText } from '../operations/command/safe-text.js';
import { toVisibleJson } from '../platform/escape-invisible.js';
import { readFormerName } from './former-names.js';
import { CannotCheck, createCommandLine, type Terminal } from './frame/command.js';
import { createProgram } from './program.js';

export async function runCommand(
  argv: readonly string[],
  { env, stdout, stderr }: Omit<Terminal, 'setFailed'>,
): Promise<number> {
  const json = argv.includes('--json');
  let isGood = true;
  const commands = createCommandLine({
    env,
    stdout,
    stderr,
    setFailed: () => {
      isGood = false;
    },
  });
  const showHelp = (help: string) => {
    if (!json) stderr.write(help);
  };
  try {
    const words = readFormerName(argv);
    await (await createProgram(commands, words, showHelp)).parseAsync(words, { from: 'user' });
    return isGood ? 0 : 1;
  } catch (error) {
    const line = problemLine(error, json);
    if (line !== undefined) stderr.write(failureText(line, json));
    return error instanceof CommanderError || error instanceof CannotCheck ? error.exitCode : 1;
  }
}

export function failureText(line: string, json: boolean): string {
  return json ? `${toVisibleJson({ error: line })}\n` : `perennial: ${toTerminalText(line)}\n`;
}

/** Returns the error as one line, or undefined if commander has already printed the output, such as help. */
function problemLine(error: unknown, json: boolean): string | undefined {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // If a noun was given without a verb, its help was already printed.
    if (error.code === 'commander.help') return json ? 'no command was given' : undefined;
    return toOneLine(error.message).replace(/^error: /, '');
  }
  return toOneLine(error instanceof Error ? error.message : String(error)) || 'something went wrong';
}

function toOneLine(text: string): string {
  return text.replace(/(?<!\s)\s*\n\s*/g, ' ').trim();
}
