// npm run prove -- ha: see ha/README.md.
import path from 'node:path';
import { acknowledgedAgain } from './ha/checks.mjs';
import { FAULTS, SHORT } from './ha/faults.mjs';
import { runProof, say } from './ha/main.mjs';
import { describeOptions } from './ha/options.mjs';
import { play } from './ha/play.mjs';
import { versions } from './ha/programs.mjs';
import { openStand } from './ha/stand.mjs';
import { isWell, report } from './ha/table.mjs';

const choice = { faults: FAULTS, short: SHORT, callers: 24 };

const HELP = `npm run prove -- ha [options]

Three nodes of the service on a Patroni cluster of three, under load, put through faults. After each: what was acknowledged
is asked for again on another node, and compared. Exit code 1 if anything was lost, doubled or wrong, or a caller saw 500001.

${describeOptions(choice)}
Needs Linux, openssl and Debian's patroni, etcd-server, python3-etcd, haproxy, postgresql-15 and libfaketime.
As root it installs what is missing. Only root can give a server a disk of its own, so without root disk-full is not played.
`;

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
  return { text, isWell: isWell(rows) };
}

/** Checks after the last fault that every write acknowledged on this stand still exists. */
async function everythingAgain(stand, { writes, reported }) {
  const found = await acknowledgedAgain(stand, writes);
  const findings = found.filter(({ text }) => !reported.has(text));
  const acknowledged = writes.filter(({ answer }) => answer !== undefined).length;
  return { title: 'everything once more', tries: acknowledged, acknowledged, findings, seen: new Map() };
}

await runProof({ help: HELP, choice, prove });
