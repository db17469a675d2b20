export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const shown = (digits) => (value) => (value === undefined || Number.isNaN(value) ? 'n/a' : value.toFixed(digits));
const ratio = (value) => shown(value < 0.1 ? 3 : 2)(value);

const dash = (digits) => (value) => (value === undefined ? '-' : shown(digits)(value));

/** The references that a row can be compared with, and the titles of their table rows. */
const REFERENCES = {
  bare: { bare: 'bare fastify route' },
  quiet: { quiet: 'without the console' },
  pgbench: { same: 'pgbench, same statements', rows: 'pgbench, rows alone' },
};

const columnsOf = (beside) => [
  { head: 'row', of: ({ label }) => label },
  { head: 'clients', of: ({ connections }) => String(connections) },
  { head: 'rate/s', of: ({ rate }) => shown(0)(rate) },
  { head: 'p50 ms', of: ({ p50 }) => dash(2)(p50) },
  { head: 'p99 ms', of: ({ p99 }) => dash(2)(p99) },
  ...Object.keys(REFERENCES[beside]).flatMap((name) => [
    { head: `of ${name}`, of: ({ ratios }) => (ratios ? ratio(ratios.get(name)?.ratio) : '') },
    { head: '(range)', of: ({ ratios }) => ratios?.get(name)?.ratioRange.map(ratio).join(' to ') ?? '' },
  ]),
  { head: 'node us', of: ({ cpu }) => dash(1)(cpu) },
  { head: 'postgres us', of: ({ postgresCpu }) => dash(1)(postgresCpu) },
  { head: 'institution us', of: ({ institutionCpu }) => dash(1)(institutionCpu), beside: 'pgbench' },
  { head: 'load us', of: ({ loadCpu }) => dash(1)(loadCpu) },
  { head: 'WAL bytes', of: ({ walBytes }) => dash(0)(walBytes), beside: 'pgbench' },
  { head: 'batch', of: ({ batch }) => dash(1)(batch) },
  { head: 'non-2xx', of: ({ failed }) => String(failed), beside: 'bare' },
];

/** Returns a function that turns a result into the cells of its row. A failed result becomes a note with its reason. */
export const cellsOr = (columns) => (result) =>
  result.failure === undefined
    ? columns.map(({ of }) => of(result))
    : { label: columns[0].of(result), note: `failed: ${result.failure}` };

/**
 * Returns the table of the rows whose reference is `beside`, or undefined if there are none. Each row is below the
 * references that were measured in turn with it.
 */
export function resultTable(results, beside) {
  const rows = results.filter((result) => result.beside === beside);
  if (rows.length === 0) return undefined;
  const columns = columnsOf(beside).filter((column) => (column.beside ?? beside) === beside);
  const lines = rows.flatMap(({ kind, connections, measured, references = [], failure }) => [
    ...references.map((reference) => ({
      ...reference.measured,
      label: REFERENCES[beside][reference.name],
      connections: reference.measured.clients ?? connections,
    })),
    {
      ...measured,
      label: kind,
      connections,
      failure,
      ratios: new Map(references.map((reference) => [reference.name, reference])),
    },
  ]);
  return aligned([columns.map(({ head }) => head), ...lines.map(cellsOr(columns))]);
}

/**
 * Shows the cost of authentication and admission per request: the cost of products/list, which is answered from memory,
 * minus the cost of the bare route.
 */
export function authenticationTable({ node, signature, token, rest, postgres }) {
  const us = shown(1);
  return aligned([
    ['authentication and admission, CPU per request', 'us'],
    ['node: products/list minus the bare route', us(node)],
    ['  signature alone: sha256, HMAC, compare (measured in-process)', us(signature)],
    ['  token alone (measured in-process)', us(token)],
    ['  the rest: headers, limits, client side of the statement, schema, metrics', us(rest)],
    ['postgres: the shared admission statement', us(postgres)],
  ]);
}

export function factsText({ cores, cpu, node, system, postgres, fileSystem, syncMs, loadAverage, logLevel }) {
  return (
    `${cores} cores (${cpu}), load average at the start ${loadAverage.toFixed(2)}; ${system}; Node ${node}; ` +
    `PostgreSQL ${postgres ?? '(did not start)'} on ${fileSystem}, fdatasync ${syncMs.toFixed(2)} ms; LOG_LEVEL=${logLevel}\n`
  );
}

/** Aligns the columns. A row has a cell for every column, or only a label and a note of any length. */
export function aligned(rows) {
  const cellsOf = (row) => (Array.isArray(row) ? row : [row.label]);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => cellsOf(row)[column]?.length ?? 0)));
  const line = (row) =>
    [
      ...cellsOf(row).map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))),
      ...(Array.isArray(row) ? [] : [row.note]),
    ].join('  ');
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const [head, ...body] = rows.map(line);
  return `${[head, rule, ...body].join('\n')}\n`;
}
