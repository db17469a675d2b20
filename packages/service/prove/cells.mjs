// npm run prove -- cells: see cells/README.md.
import path from 'node:path';
import { FAULTS, SHORT } from './cells/faults.mjs';
import { play } from './cells/play.mjs';
import { openStand } from './cells/stand.mjs';
import { isWell, report } from './cells/table.mjs';
import { runProof, say } from './ha/main.mjs';
import { describeOptions } from './ha/options.mjs';

const choice = { faults: FAULTS, short: SHORT, callers: 6 };

const HELP = `npm run prove -- cells [options]

Two cells on one server, under load. One of them is split off to the server's replica, with a fault meanwhile. After each
fault, what was acknowledged is asked for again and compared. Exit code 1 if anything was lost, doubled or wrong, if a fenced
server took a write, or if a caller saw 500001. The callers are those of each cell.

${describeOptions(choice)}
Needs Linux, openssl, and Debian's haproxy and postgresql.
`;

/** Plays each fault on a stand of its own, because a split cannot be repeated. */
async function prove({ plays, logs, callers }, interrupted) {
  const begun = performance.now();
  const rows = [];
  for (const fault of plays) {
    let stand;
    try {
      stand = await openStand({ logs: logs && path.join(logs, fault.name), callers, interrupted, say });
      rows.push(await play(fault, stand, say));
    } catch (error) {
      interrupted.throwIfAborted();
      say(`${error.stack}\n`);
      rows.push({ title: fault.title, failure: error.message, findings: [], seen: new Map() });
    } finally {
      await stand?.close();
    }
  }
  return { text: report({ rows, seconds: (performance.now() - begun) / 1000 }), isWell: isWell(rows) };
}

await runProof({ help: HELP, choice, prove });
