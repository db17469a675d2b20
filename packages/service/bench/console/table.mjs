import { aligned, cellsOr, factsText } from '../table.mjs';

const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(0)} MB`);

const READ_COLUMNS = [
  { head: 'read', of: ({ kind }) => kind },
  { head: 'of what', of: ({ label }) => label },
  { head: 'p50 ms', of: ({ p50 }) => ms(p50) },
  { head: 'p95 ms', of: ({ p95 }) => ms(p95) },
  { head: 'most ms', of: ({ most }) => ms(most) },
  { head: 'CPU ms', of: ({ cpu }) => (cpu === undefined ? '' : ms(cpu)) },
  { head: 'indexes', of: ({ plan }) => plan },
];

const WRITE_COLUMNS = [
  { head: 'rows written', of: ({ label }) => label },
  { head: 'without us', of: ({ without }) => without.us.toFixed(2) },
  { head: 'with us', of: ({ withAll }) => withAll.us.toFixed(2) },
  { head: 'more', of: ({ without, withAll }) => `${(((withAll.us - without.us) / without.us) * 100).toFixed(0)}%` },
  { head: 'WAL without', of: ({ without }) => without.wal.toFixed(0) },
  { head: 'WAL with', of: ({ withAll }) => withAll.wal.toFixed(0) },
];

/**
 * Returns the ratios: each read relative to the look-up of one order, and each write without the console's indexes
 * relative to the same write with them.
 */
export function ratiosOf({ results }) {
  const lookUp = results.find(({ kind }) => kind === 'look-up');
  return results.flatMap(({ row, kind, p50, without, withAll }) => {
    if (without) return [{ row, of: 'the same without indexes for the console', ratio: without.us / withAll.us }];
    return ['orders', 'look-up', 'sizes'].includes(kind) ? [] : [{ row, of: 'a look-up', ratio: lookUp?.p50 / p50 }];
  });
}

export function report({ facts, orders, channels, runs, results }) {
  const writes = results.filter(({ kind }) => kind === 'write');
  const reads = results.filter(({ kind, failure }) => kind !== 'write' && (kind !== 'sizes' || failure !== undefined));
  const sizes = results.flatMap((row) => row.sizes ?? []);
  const parts = [factsText({ ...facts, logLevel: 'warn' })];
  const heads = (columns) => columns.map(({ head }) => head);
  const cells = (row) =>
    row.failure === undefined ? cellsOr(READ_COLUMNS)(row) : { label: row.row, note: `failed: ${row.failure}` };
  parts.push(
    aligned([heads(READ_COLUMNS), ...reads.map(cells)]),
    `${orders} orders of ${channels} channels, ${runs} reads of each kind with other values, by the steps of the console in one process.\n`,
  );
  if (sizes.length > 0)
    parts.push(aligned([['table or index', 'size'], ...sizes.map(({ name, bytes }) => [name, size(Number(bytes))])]));
  if (writes.length > 0) {
    parts.push(
      aligned([heads(WRITE_COLUMNS), ...writes.map(cellsOr(WRITE_COLUMNS))]),
      'Of one row, in statements of 1,000 as batches write them, without and with what is there for these reads, in processor time of the\nserver; medians of rounds in turn.\n',
    );
  }
  return parts.join('\n');
}
