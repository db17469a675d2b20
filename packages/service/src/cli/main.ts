import { failureText, runCommand } from './run.js';

const argv = process.argv.slice(2);
let isWritten = true;

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early. That is not a failure.
    if (error.code === 'EPIPE') return;
    isWritten = false;
    process.exitCode = 1;
    if (stream === process.stdout) {
      process.stderr.write(failureText(`cannot write the result: ${error.message}`, argv.includes('--json')));
    }
  });
}

const code = await runCommand(argv, process);
// Keeps exit code 1 if a write has already failed. If a write fails later, the handler above sets exit code 1.
process.exitCode = isWritten ? code : 1;
