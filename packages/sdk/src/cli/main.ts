import { text } from 'node:stream/consumers';
import { systemNow } from '../clock.js';
import { main } from './program.js';

function watchStop(): AbortSignal {
  const stop = new AbortController();
  const end = () => {
    // Who asks twice does not want to wait for what is under way.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  return stop.signal;
}

// Somebody who reads no further, such as `head`: as a program that a broken pipe ends, and not as one that has succeeded.
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
