import { aligned, factsText } from '../table.mjs';

const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(0)} MB`);

export function report({ facts, orders, channels, runs, results, sizes, writes }) {
  const parts = [factsText({ ...facts, logLevel: 'warn' })];
  parts.push(
    aligned([
      ['read', 'of what', 'p50 ms', 'p95 ms', 'most ms', 'indexes'],
      ...results.map(({ kind, label, p50, p95, most, plan }) => [kind, label, ms(p50), ms(p95), ms(most), plan]),
    ]),
    `${orders} orders of ${channels} channels, ${runs} reads of each kind with other values, by the steps of the console in one process.\n`,
  );
  parts.push(aligned([['table or index', 'size'], ...sizes.map(({ name, bytes }) => [name, size(Number(bytes))])]));
  if (writes.length > 0) {
    parts.push(
      aligned([
        ['rows written', 'without us', 'with us', 'more', 'WAL without', 'WAL with'],
        ...writes.map(({ label, without, withAll }) => [
          label,
          without.us.toFixed(2),
          withAll.us.toFixed(2),
          `${(((withAll.us - without.us) / without.us) * 100).toFixed(0)}%`,
          without.wal.toFixed(0),
          withAll.wal.toFixed(0),
        ]),
      ]),
      'Of one row, in statements of 1,000 as batches write them, without and with what is there for these reads, in processor time of the\nserver; medians of rounds in turn.\n',
    );
  }
  return parts.join('\n');
}
