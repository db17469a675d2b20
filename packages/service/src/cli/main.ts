import { CommanderError } from 'commander';
import { jsonText } from '../visible.js';
import { program } from './program.js';
import { terminalText } from './shown.js';

const argv = process.argv.slice(2);
const json = argv.includes('--json');

/** The one line, or nothing when commander has already shown what was asked for. */
function problem(error: unknown): string | undefined {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // A noun without a verb: the help it got says more.
    if (error.code === 'commander.help') return json ? 'no command is given' : undefined;
    return oneLine(error.message).replace(/^error: /, '');
  }
  return oneLine(error instanceof Error ? error.message : String(error)) || 'something went wrong';
}

function showHelp(help: string): void {
  if (!json) process.stderr.write(help);
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early: what it wanted to see it has seen.
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    if (stream === process.stdout) fail(`the answer cannot be written: ${error.message}`);
  });
}

function fail(line: string): void {
  process.stderr.write(json ? `${jsonText({ error: line })}\n` : `perennial: ${terminalText(line)}\n`);
}

try {
  await program(showHelp).parseAsync(argv, { from: 'user' });
} catch (error) {
  const line = problem(error);
  if (line !== undefined) fail(line);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
