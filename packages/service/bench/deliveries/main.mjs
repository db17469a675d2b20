import { machineFacts } from '../facts.mjs';
import { openStage } from '../stage.mjs';
import { median } from '../table.mjs';
import { sent, sentBesideHung } from './rows.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

const PEERS = ['graphile-worker', 'pg-boss'];
const ENGINE = 'the engine';
/** The number of channels, each with its own port. */
const RECEIVERS = 10;

/** Measures the engine and the job queues one after another, with the same receivers and the same PostgreSQL server. */
export async function bench({ events, jobs, backlog, burst, runs, rows, processes, postgres }, { running, keep }) {
  const facts = await machineFacts();
  const kept = keep(async () => {
    const stage = await openStage(running, postgres);
    facts.postgres = stage.server.version;
    const receiver = running.startHelper('the receivers', 'deliveries/receiver.mjs');
    const { value: ports } = await receiver.ask('open', { receivers: RECEIVERS });
    return { ...stage, receiver, ports };
  });
  const measure = (kind, row, { label, ...options }) =>
    kept.measure({ row: `${kind}: ${label}`, kind, label, peer: options.peer }, (stage) =>
      row(stage, { label, processes, ...options }),
    );
  const peers = rows.has('peers') ? PEERS : [];
  // Measures the rows in turn, so that other load on the machine affects every row.
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
  await kept.close();
  return { facts, runs, results: medians(kept.results) };
}

/** Returns the median over all runs of a row. A row has failed if one of its runs has. */
function medians(measured) {
  const isFirst = (one, at) => measured.findIndex(({ row }) => row === one.row) === at;
  return measured.filter(isFirst).map((first) => {
    const group = measured.filter(({ row }) => row === first.row);
    const failed = group.find(({ failure }) => failure !== undefined);
    if (failed) return failed;
    const middle = ([name, value]) => [name, typeof value === 'number' ? median(group.map((one) => one[name])) : value];
    return Object.fromEntries(Object.entries(first).map(middle));
  });
}
