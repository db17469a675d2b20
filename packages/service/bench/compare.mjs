import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { aligned } from './table.mjs';

export class CannotCompare extends Error {}

const COMMITTED = new URL('baseline.json', import.meta.url);
const placeOf = (file) => (file === true ? COMMITTED : file);

async function readBaseline(file) {
  try {
    return JSON.parse(await readFile(placeOf(file), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * Makes the run's ratios the baseline of its kind. Refuses a run with a failed row: later runs could not be compared in
 * that row, and nobody would notice.
 */
export async function writeBaseline(file, document) {
  const failed = document.rows.filter(({ failure }) => failure !== undefined);
  if (failed.length > 0)
    throw new CannotCompare(`no baseline is written: ${failed.map(({ row }) => row).join(', ')} failed`);
  const { cores, cpu, node, postgres } = document.facts;
  const part = {
    machine: `${cores} cores, ${os.arch()}, ${cpu}`,
    node,
    postgres,
    commit: document.commit,
    at: document.at,
    rows: Object.fromEntries(
      document.rows
        .filter(({ ratios }) => Object.keys(ratios).length > 0)
        .map(({ row, ratios }) => [row, rounded(ratios)]),
    ),
  };
  const all = { ...(await readBaseline(file)), [document.kind]: part };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(placeOf(file), `${JSON.stringify(sorted, undefined, 2)}\n`);
}

const rounded = (ratios) =>
  Object.fromEntries(Object.entries(ratios).map(([of, ratio]) => [of, Number(ratio.toPrecision(3))]));

/**
 * Returns a text that compares the run's ratios with the baseline's. `isWorse` is true if a ratio fell by more than
 * the tolerance.
 */
export async function compareWithBaseline(file, document, tolerance) {
  const baseline = (await readBaseline(file))[document.kind];
  if (baseline === undefined)
    throw new CannotCompare(`the baseline has nothing of the kind ${document.kind}: write one (--write-baseline)`);
  const lines = document.rows.flatMap((row) => linesOf(row, baseline.rows[row.row] ?? {}, tolerance / 100));
  const left = Object.keys(baseline.rows).filter((name) => !document.rows.some(({ row }) => row === name));
  return { text: textOf({ document, baseline, lines, left, tolerance }), isWorse: lines.some(isWorse) };
}

const isWorse = ({ verdict }) => verdict === 'worse';

function linesOf({ row, failure, ratios = {} }, before, tolerance) {
  if (failure !== undefined) return [{ row, note: `failed: ${failure}` }];
  const names = new Set([...Object.keys(before), ...Object.keys(ratios)]);
  return [...names].map((of) => ({
    row,
    of,
    before: before[of],
    today: ratios[of],
    verdict: verdictOf(before[of], ratios[of], tolerance),
  }));
}

function verdictOf(before, today, tolerance) {
  if (before === undefined) return 'new';
  if (today === undefined) return 'not measured';
  if (today < before * (1 - tolerance)) return 'worse';
  return today > before / (1 - tolerance) ? 'better' : 'as before';
}

const shown = (ratio) => (ratio === undefined ? '-' : ratio.toPrecision(3));
const change = ({ before, today }) =>
  before === undefined || today === undefined
    ? '-'
    : `${today >= before ? '+' : ''}${(100 * (today / before - 1)).toFixed(0)}%`;

function textOf({ document, baseline, lines, left, tolerance }) {
  const table = aligned([
    ['row', 'ratio to', 'baseline', 'today', 'change', ''],
    ...lines.map((line) =>
      line.note === undefined
        ? [line.row, line.of, shown(line.before), shown(line.today), change(line), line.verdict]
        : { label: line.row, note: line.note },
    ),
  ]);
  const { cores, cpu, node, postgres } = document.facts;
  const notes = [
    `baseline: ${baseline.machine}; Node ${baseline.node}; PostgreSQL ${baseline.postgres}; commit ${baseline.commit}, ${baseline.at}`,
    `today:    ${cores} cores, ${os.arch()}, ${cpu}; Node ${node}; PostgreSQL ${postgres}; commit ${document.commit}`,
    `Of every ratio more is better. Worse: more than ${tolerance} % below the baseline's; better: the other way round.`,
    ...(left.length > 0 ? [`Of the baseline these were not among the rows: ${left.join(', ')}.`] : []),
  ];
  return `${table}\n${notes.join('\n')}\n`;
}
