import { aligned, cellsOr, factsText } from '../table.mjs';

const shown = (digits) => (value) => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits));

const TITLES = { rate: '', pinned: ', vacuum held back', backlog: ', a backlog' };

const RATE_COLUMNS = [
  { head: 'deliveries', of: ({ label, kind }) => `${label}${TITLES[kind]}` },
  { head: 'events', of: ({ events }) => String(events) },
  { head: 'seconds', of: ({ seconds }) => shown(1)(seconds) },
  { head: 'rate/s', of: ({ rate }) => shown(0)(rate) },
  { head: 'of the better peer', of: ({ ratio }) => shown(2)(ratio) },
  { head: 'loss %', of: ({ loss }) => shown(1)(loss) },
  { head: 'node us', of: ({ cpu }) => shown(1)(cpu) },
  { head: 'postgres us', of: ({ postgresCpu }) => shown(1)(postgresCpu) },
  { head: 'receivers us', of: ({ receiverCpu }) => shown(1)(receiverCpu) },
  { head: 'WAL bytes', of: ({ walBytes }) => shown(0)(walBytes) },
];

const HUNG_COLUMNS = [
  { head: 'one receiver of ten hangs', of: ({ label }) => label },
  { head: 'events', of: ({ events }) => String(events) },
  { head: 'p50 s', of: ({ p50 }) => shown(3)(p50) },
  { head: 'p99 s', of: ({ p99 }) => shown(3)(p99) },
  { head: 'last s', of: ({ last }) => shown(3)(last) },
  { head: 'better than the better peer', of: ({ times }) => shown(1)(times) },
];

const legend = (
  runs,
) => `Medians of ${runs} runs (of one run: a backlog, and the second table). CPU and WAL are per delivery, without the
writing of the events, which comes after a checkpoint. All send the same signed bodies to the same receivers, ten channels with a port each.
A peer's job holds its event and is sent by undici, 64 at a time, fetched and completed in batches; it keeps no record of
what was answered, as the engine does. Loss is against the same row without a transaction that holds vacuum back. The
second table: events written at once, every tenth for a receiver that never answers; time until the healthy receivers
have answered theirs, from the start of the process that sends.
`;

const of = (results, kind) => results.filter((row) => row.kind === kind);
const finite = (value) => (Number.isFinite(value) && value > 0 ? value : undefined);

/**
 * Adds to each row its ratio to the best job queue. A row with a backlog or a pinned transaction also gets its ratio to
 * the row in which the same sender has neither.
 */
function beside(results) {
  const peersOf = (kind) => of(results, kind).filter(({ peer, failure }) => peer && failure === undefined);
  const bestRate = (kind) => Math.max(...peersOf(kind).map(({ rate }) => rate));
  const bestWait = Math.min(...peersOf('hung').map(({ p99 }) => p99));
  return results.map((row) => {
    if (row.kind === 'hung') return { ...row, times: finite(bestWait / row.p99) };
    const plain = of(results, 'rate').find(({ label }) => label === row.label);
    return {
      ...row,
      ratio: finite(row.rate / bestRate(row.kind === 'backlog' ? 'rate' : row.kind)),
      ofPlain: row.kind === 'rate' ? undefined : finite(row.rate / plain?.rate),
    };
  });
}

export function ratiosOf({ results }) {
  return beside(results)
    .filter(({ peer }) => !peer)
    .flatMap(({ row, ratio, ofPlain, times }) => [
      { row, of: 'the better peer', ratio: ratio ?? times },
      { row, of: 'its plain row', ratio: ofPlain },
    ]);
}

export function report({ facts, runs, results }) {
  const all = beside(results).map((row) => ({
    ...row,
    loss: row.kind === 'pinned' && row.ofPlain !== undefined ? 100 * (1 - row.ofPlain) : undefined,
  }));
  const rated = ['rate', 'pinned', 'backlog'].flatMap((kind) => of(all, kind));
  const table = (columns, rows) =>
    rows.length === 0 ? [] : [aligned([columns.map(({ head }) => head), ...rows.map(cellsOr(columns))])];
  return [
    factsText({ ...facts, logLevel: 'warn' }),
    ...table(RATE_COLUMNS, rated),
    ...table(HUNG_COLUMNS, of(all, 'hung')),
    legend(runs),
  ].join('\n');
}
