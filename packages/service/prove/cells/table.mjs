import os from 'node:os';
import { count, faultsOf, findingLines, secondsText, seenText } from '../ha/table.mjs';

/** Returns true if every acknowledged write was found, nothing was doubled or wrong, and no fence let a write through. */
export const isWell = (rows) =>
  rows.every(
    (row) =>
      row.failure === undefined &&
      row.findings.length === 0 &&
      row.found === row.acknowledged &&
      row.fencedWrites === 0 &&
      faultsOf(row) === 0,
  );

/** Returns the result as Markdown. */
export function report({ rows, seconds }) {
  const lines = [
    '# A split of two cells under load',
    '',
    `Node ${process.versions.node}; ${os.availableParallelism()} cores for all of it; it took ${Math.round(seconds)} s.`,
    '',
    '| fault | acknowledged | found | stored twice | debited twice | events missing | other findings | moved cell away | other cell away | writes on fenced servers | renewals | events | callers saw |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(rowText),
    '',
    kindsText(rows),
    '',
    ...findingLines(rows),
    isWell(rows) ? 'Nothing was lost, doubled or wrong, and no fenced server took a write.' : 'NOT WELL.',
    '',
  ];
  return lines.join('\n');
}

function rowText(row) {
  if (row.failure !== undefined) return `| ${row.title} | could not be played: ${row.failure} |${' |'.repeat(11)}`;
  const of = (...books) => ({ findings: row.findings.filter(({ book }) => books.includes(book)) });
  const figures = {
    storedTwice: count(of('acknowledged', 'periods', undefined), 'doubled'),
    debitedTwice: count(of('institution'), 'doubled'),
    eventsMissing: count(of('events'), 'lost'),
  };
  const known = figures.storedTwice + figures.debitedTwice + figures.eventsMissing;
  const cells = [
    row.title,
    row.acknowledged,
    row.found,
    figures.storedTwice,
    figures.debitedTwice,
    figures.eventsMissing,
    row.findings.length - known,
    secondsText(row.movedGapMs),
    secondsText(row.otherGapMs),
    row.fencedWrites,
    row.renewals,
    row.events,
    seenText(row.seen),
  ];
  return `| ${cells.join(' | ')} |`;
}

function kindsText(rows) {
  const kinds = rows.flatMap((row) => row.kinds ?? []);
  const parts = [...new Set(kinds)].toSorted().map((kind) => `${kinds.filter((one) => one === kind).length} x ${kind}`);
  return `Acknowledged: ${parts.join(', ')}.`;
}
