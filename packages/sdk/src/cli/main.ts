import { text } from 'node:stream/consumers';
import { systemNow } from '../clock.js';
import { main } from './program.js';

function watchStop(): AbortSignal {
  const stop = new AbortController();
  const end = () => {
    // The second signal exits at once, without waiting for work in progress.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  return stop.signal;
}

// A reader such as `head` has closed the pipe: exits with the status of SIGPIPE, not with success.
process.stdout.on('error', () => process.exit(141));

process.exitCode = await main(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
  hasColours: process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined,
  pid: process.pid,
  watchStop,
  readInput: () => text(process.stdin),
  now: systemNow,
});
