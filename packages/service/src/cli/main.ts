import { failureText, runCommand } from './run.js';

const argv = process.argv.slice(2);
let isHeard = true;

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the pipe early, which is no failure.
    if (error.code === 'EPIPE') return;
    isHeard = false;
    process.exitCode = 1;
    if (stream === process.stdout) {
      process.stderr.write(failureText(`the answer cannot be written: ${error.message}`, argv.includes('--json')));
    }
  });
}

const code = await runCommand(argv, process);
// A write may fail before or after the command has ended.
process.exitCode = isHeard ? code : 1;
