import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { machineFacts } from '../facts.mjs';
import { openServer } from '../renewals/server.mjs';
import { median } from '../table.mjs';
import { sent, sentBesideHung } from './rows.mjs';

export { HELP, readOptions } from './options.mjs';
export { report } from './table.mjs';

const PEERS = ['graphile-worker', 'pg-boss'];
const ENGINE = 'the engine';
/** Of channels, each with a port of its own. */
const RECEIVERS = 10;

/** Events sent by the engine and by job queues to the same receivers, all on one server, one after another. */
export async function bench({ events, jobs, backlog, burst, runs, rows, processes, postgres }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let server;
  try {
    const facts = await machineFacts(dataDir);
    server = await openServer(dataDir, postgres);
    const receiver = running.startHelper('the receivers', 'deliveries/receiver.mjs');
    const { value: ports } = await receiver.ask('open', { receivers: RECEIVERS });
    const parts = { server, running, receiver, ports };
    const measured = [];
    const measure = async (kind, row, options) => {
      say(`  ${kind}: ${options.label}\n`);
      measured.push({ kind, peer: options.peer, ...(await row(parts, { processes, ...options })) });
    };
    const peers = rows.has('peers') ? PEERS : [];
    // In turn, so that what else happens on the machine happens to all of them.
    for (let run = 0; run < runs; run += 1) {
      for (const kind of ['rate', 'pinned']) {
        if (!rows.has(kind)) continue;
        const pinned = kind === 'pinned';
        for (const peer of peers) await measure(kind, sent, { label: peer, events: jobs, peer, pinned });
        await measure(kind, sent, { label: ENGINE, events, pinned });
      }
    }
    if (rows.has('backlog')) await measure('backlog', sent, { label: ENGINE, events: backlog });
    const labels = rows.has('hung') ? [...peers, undefined] : [];
    for (const peer of labels) await measure('hung', sentBesideHung, { label: peer ?? ENGINE, events: burst, peer });
    return { facts: { ...facts, postgres: server.version }, runs, results: medians(measured) };
  } finally {
    await running.stop();
    await server?.close().catch(() => undefined);
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** One result for all runs of a row. */
function medians(measured) {
  const isFirst = (row, at) => measured.findIndex(isSame(row)) === at;
  return measured.filter(isFirst).map((row) => {
    const group = measured.filter(isSame(row));
    const middle = ([name, value]) => [name, typeof value === 'number' ? median(group.map((one) => one[name])) : value];
    return Object.fromEntries(Object.entries(row).map(middle));
  });
}

const isSame = (row) => (other) => other.kind === row.kind && other.label === row.label;
