import { aligned, cellsOr, factsText } from '../table.mjs';

const shown = (digits) => (value) => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits));

const COLUMNS = [
  { head: 'renewals', of: ({ row }) => row },
  { head: 'due', of: ({ due }) => String(due) },
  { head: 'seconds', of: ({ seconds }) => shown(1)(seconds) },
  { head: 'rate/s', of: ({ rate }) => shown(0)(rate) },
  { head: 'of the better peer', of: ({ ratio }) => shown(2)(ratio) },
  { head: 'node us', of: ({ cpu }) => shown(1)(cpu) },
  { head: 'postgres us', of: ({ postgresCpu }) => shown(1)(postgresCpu) },
  { head: 'institution us', of: ({ institutionCpu }) => shown(1)(institutionCpu) },
  { head: 'WAL bytes', of: ({ walBytes }) => shown(0)(walBytes) },
];

const LEGEND = `B: the channel collects, orders are billed. A: debited at the reference institution, a process of its own over the bridge.
Rate, CPU and WAL are per renewal, from a checkpoint on: period, benefits, event, totals and next due time. Orders lie as
twelve months of business leave them: those due are in twelve clusters among those that are not. A peer's job does the
same writes for its one order in one statement, many jobs at a time, fetched and completed in batches.
`;

/** Returns the best rate of a job queue, or undefined if no job queue was measured in this mode. */
function bestPeer(results, mode) {
  const rates = results
    .filter((row) => row.peer && row.mode === mode && row.rate !== undefined)
    .map(({ rate }) => rate);
  return rates.length > 0 ? Math.max(...rates) : undefined;
}

/**
 * Returns the ratio of each engine row's rate to the rate of the better job queue. In mode B, each row besides "B, the
 * engine" also has the ratio to the rate of "B, the engine".
 */
export function ratiosOf({ results }) {
  const engine = results.filter(({ peer, rate }) => !peer && rate !== undefined);
  const plain = engine.find(({ row }) => row === 'B, the engine');
  return engine.flatMap((one) => [
    { row: one.row, of: 'the better peer', ratio: one.rate / bestPeer(results, one.mode) },
    ...(one.mode === 'B' && plain && one !== plain
      ? [{ row: one.row, of: plain.row, ratio: one.rate / plain.rate }]
      : []),
  ]);
}

export function report({ facts, results }) {
  const lines = results
    .filter(({ rate, failure }) => rate !== undefined || failure !== undefined)
    .map((row) => {
      return { ...row, ratio: row.rate / bestPeer(results, row.mode) };
    });
  const parts = [factsText({ ...facts, logLevel: 'warn' })];
  if (lines.length > 0) parts.push(aligned([COLUMNS.map(({ head }) => head), ...lines.map(cellsOr(COLUMNS))]), LEGEND);
  for (const { row, due, held, asked, seconds } of results) {
    if (held === undefined) continue;
    parts.push(
      `${row}, ${due} due: of ${held} debits in flight ${asked} were the killed node's; the last one was settled ` +
        `${seconds.toFixed(1)} s after the kill\n`,
    );
  }
  return parts.join('\n');
}
