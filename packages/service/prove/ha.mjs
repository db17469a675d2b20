// npm run prove -- ha: see ha/README.md.
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { acknowledgedAgain } from './ha/checks.mjs';
import { HELP, readOptions, UsageError } from './ha/options.mjs';
import { play } from './ha/play.mjs';
import { versions } from './ha/programs.mjs';
import { openStand } from './ha/stand.mjs';
import { isWell, report } from './ha/table.mjs';

const say = (text) => process.stderr.write(text);

/**
 * Plays the faults one after another. If a fault cannot be played, the next fault gets a new stand: new servers, nodes
 * and data.
 */
async function playAll({ plays, logs, callers }, interrupted) {
  const rows = [];
  let stand;
  let stands = 0;
  let history;
  const close = async () => {
    await stand?.close();
    stand = undefined;
  };
  try {
    for (const fault of plays) {
      try {
        if (stand === undefined) {
          stands += 1;
          const logDir = logs && path.join(logs, `stand-${stands}`);
          stand = await openStand({ logs: logDir, callers, interrupted, say });
          history = { writes: [], reported: new Set() };
        }
        rows.push(await play(fault, stand, { history, say }));
      } catch (error) {
        interrupted.throwIfAborted();
        say(`${error.stack}\n`);
        rows.push({ title: fault.title, failure: error.message, findings: [], seen: new Map() });
        await close();
      }
    }
    if (stand !== undefined && plays.length > 1) rows.push(await everythingAgain(stand, history));
  } finally {
    await close();
  }
  return rows;
}

async function prove(options, interrupted) {
  const begun = performance.now();
  const rows = await playAll(options, interrupted);
  const text = report({ rows, versions: await versions(), seconds: (performance.now() - begun) / 1000 });
  process.stdout.write(text);
  if (options.out !== undefined) await writeFile(options.out, text);
  return isWell(rows);
}

/** Checks after the last fault that every write acknowledged on this stand still exists. */
async function everythingAgain(stand, { writes, reported }) {
  const found = await acknowledgedAgain(stand, writes);
  const findings = found.filter(({ text }) => !reported.has(text));
  const acknowledged = writes.filter(({ answer }) => answer !== undefined).length;
  return { title: 'everything once more', tries: acknowledged, acknowledged, findings, seen: new Map() };
}

async function main(args) {
  const interrupted = new AbortController();
  setMaxListeners(0, interrupted.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort());
  try {
    const options = readOptions(args);
    if (options === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    return (await prove(options, interrupted.signal)) ? 0 : 1;
  } catch (error) {
    if (interrupted.signal.aborted) {
      say('prove: stopped\n');
      return 130;
    }
    say(error instanceof UsageError ? `prove: ${error.message}\n\n${HELP}` : `prove: ${error.stack}\n`);
    return 1;
  }
}

const status = await main(process.argv.slice(2));
// Waits until all output is written, then exits without waiting for abandoned requests.
process.stdout.write('', () => process.exit(status));
