import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { readOptions, UsageError } from './options.mjs';

export const say = (text) => process.stderr.write(text);

/**
 * Runs a proof that plays faults, with the arguments of this process. Exits with 1 unless all is well. `prove` gets the
 * options and a signal, and returns a report.
 */
export async function runProof({ help, choice, prove }) {
  const status = await main(process.argv.slice(2), { help, choice, prove });
  // Waits until all output is written, then exits without waiting for abandoned requests.
  process.stdout.write('', () => process.exit(status));
}

async function main(args, { help, choice, prove }) {
  const interrupted = new AbortController();
  setMaxListeners(0, interrupted.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort());
  try {
    const options = readOptions(args, choice);
    if (options === undefined) {
      process.stdout.write(help);
      return 0;
    }
    const { text, isWell } = await prove(options, interrupted.signal);
    process.stdout.write(text);
    if (options.out !== undefined) await writeFile(options.out, text);
    return isWell ? 0 : 1;
  } catch (error) {
    if (interrupted.signal.aborted) {
      say('prove: stopped\n');
      return 130;
    }
    say(error instanceof UsageError ? `prove: ${error.message}\n\n${help}` : `prove: ${error.stack}\n`);
    return 1;
  }
}
