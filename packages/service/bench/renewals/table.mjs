import { aligned, factsText } from '../table.mjs';

const shown = (digits) => (value) => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits));

const COLUMNS = [
  { head: 'renewals', of: ({ label }) => label },
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

export function report({ facts, results }) {
  const rated = results.filter(({ rate }) => rate !== undefined);
  const best = (mode) => Math.max(...rated.filter((row) => row.peer && row.mode === mode).map(({ rate }) => rate));
  const lines = rated.map((row) => ({
    ...row,
    ratio: Number.isFinite(best(row.mode)) ? row.rate / best(row.mode) : undefined,
  }));
  const parts = [factsText({ ...facts, logLevel: 'warn' })];
  if (lines.length > 0)
    parts.push(
      aligned([COLUMNS.map(({ head }) => head), ...lines.map((row) => COLUMNS.map(({ of }) => of(row)))]),
      LEGEND,
    );
  for (const { label, due, held, asked, seconds, rate } of results) {
    if (rate !== undefined) continue;
    parts.push(
      `${label}, ${due} due: of ${held} debits under way ${asked} were the killed node's; the last one was settled ` +
        `${seconds.toFixed(1)} s after the kill\n`,
    );
  }
  return parts.join('\n');
}
