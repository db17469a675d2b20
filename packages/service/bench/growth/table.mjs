import { aligned, cellsOr, factsText } from '../table.mjs';

const shown = (digits) => (value) => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits));
const thousands = (value) => value.toLocaleString('en-US');

/** The highest acceptable cost, as a multiple of the cost at the smallest size. */
export const GOAL = 1.3;

const COLUMNS = [
  { head: 'work', of: ({ name }) => name },
  { head: 'orders', of: ({ size }) => thousands(size) },
  { head: 'rate/s', of: ({ rate }) => shown(0)(rate) },
  { head: 'p99 ms', of: ({ p99 }) => shown(1)(p99) },
  { head: 'node us', of: ({ nodeCpu }) => shown(0)(nodeCpu) },
  { head: 'postgres us', of: ({ postgresCpu }) => shown(0)(postgresCpu) },
  { head: 'WAL bytes', of: ({ walBytes }) => shown(0)(walBytes) },
  { head: 'CPU of the smallest', of: ({ cost }) => shown(2)(cost) },
  { head: 'rate of the smallest', of: ({ pace }) => shown(2)(pace) },
];

const LEGEND = `CPU and WAL are per operation, of the node and of the whole server; medians of the runs. "of the smallest": as a multiple of what
the same work took in turn with it in a database that has stayed at the smallest size, on a server of its own; the goal for CPU is
at most ${GOAL.toFixed(1)}. Vacuum of the large tables does not run meanwhile. create, query, list: 16 clients that wait for their answers. search: of
the console, 8 at a time. renew: a batch that is due. deliver: events that are all due.
`;

/** Returns the results except the one for loading the orders. */
export const growthOf = ({ results }) => results.filter(({ name }) => name !== 'load');

/** Returns for each row the cost at the smallest size divided by the row's cost. 1 means no growth; less is worse. */
export function ratiosOf(result) {
  const [smallest] = result.sizes;
  return growthOf(result)
    .filter(({ size, failure }) => size !== smallest && failure === undefined)
    .map(({ row, cost }) => ({ row, of: `${thousands(smallest)} orders, CPU`, ratio: 1 / cost }));
}

export function report(result) {
  const rows = growthOf(result);
  const order = [...new Set(rows.map(({ name }) => name))];
  const sorted = rows.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name) || a.size - b.size);
  const loads = result.results.filter(({ name }) => name === 'load');
  const cells = (row) =>
    row.failure === undefined ? cellsOr(COLUMNS)(row) : { label: row.row, note: `failed: ${row.failure}` };
  const loaded = ({ row, size, seconds, bytes, failure }) =>
    failure === undefined
      ? `${thousands(size)} orders: loaded in ${shown(0)(seconds)} s, ${shown(1)(bytes / 1e9)} GB`
      : `${row} failed: ${failure}`;
  return [
    factsText({ ...result.facts, logLevel: 'warn' }),
    aligned([COLUMNS.map(({ head }) => head), ...sorted.map(cells)]),
    LEGEND,
    `${loads.map(loaded).join('\n')}\n`,
  ].join('\n');
}
