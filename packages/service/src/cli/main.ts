import { failureText, runCommand } from './run.js';

const argv = process.argv.slice(2);
let isWritten = true;

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early, which is not a failure.
    if (error.code === 'EPIPE') return;
    isWritten = false;
    process.exitCode = 1;
    if (stream === process.stdout) {
      process.stderr.write(failureText(`cannot write the result: ${error.message}`, argv.includes('--json')));
    }
  });
}

const code = await runCommand(argv, process);
// A write may fail before or after the end of the command.
process.exitCode = isWritten ? code : 1;
