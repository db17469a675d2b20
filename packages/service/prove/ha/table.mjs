import os from 'node:os';

const MOST_FINDINGS = 50;
const FAULT_CODE = '500001';

export const count = ({ findings }, kind) => findings.filter((finding) => finding.kind === kind).length;
export const faultsOf = ({ seen }) => seen.get(FAULT_CODE) ?? 0;

/** Returns true if every fault was played, nothing was lost, doubled or wrong, and no caller got an internal error. */
export const isWell = (rows) =>
  rows.every((row) => row.failure === undefined && row.findings.length === 0 && faultsOf(row) === 0);

/** Returns the result as Markdown. */
export function report({ rows, versions, seconds }) {
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const lines = [
    '# Fail-over of three nodes on three servers',
    '',
    `${[...programs, `Node ${process.versions.node}`].join(', ')}; ${os.availableParallelism()} cores for all of it; it took ${Math.round(seconds)} s.`,
    '',
    '| fault | requests | acknowledged writes | lost | doubled | wrong | longest gap | slowest write | callers saw | events | pushed again |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(rowText),
    '',
    ...findingLines(rows),
    isWell(rows) ? 'Nothing was lost, doubled or wrong, and nobody saw 500001.' : `Not well: ${summary(rows)}.`,
    '',
  ];
  return lines.join('\n');
}

function rowText(row) {
  if (row.failure !== undefined) return `| ${row.title} | could not be played: ${row.failure} | | | | | | | | | |`;
  const cells = [
    row.title,
    row.tries,
    row.acknowledged,
    count(row, 'lost'),
    count(row, 'doubled'),
    count(row, 'wrong'),
    secondsText(row.longestGapMs),
    secondsText(row.longestWaitMs),
    seenText(row.seen),
    row.events ?? '',
    row.pushedAgain ?? '',
  ];
  return `| ${cells.join(' | ')} |`;
}

export const secondsText = (ms) => (ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`);

export function seenText(seen) {
  const parts = [...seen].sort(([, a], [, b]) => b - a).map(([code, times]) => `${times} x ${code}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

export function findingLines(rows) {
  const all = rows.flatMap(({ title, findings = [] }) =>
    findings.map(({ kind, text }) => `- ${kind}, ${title}: ${text}`),
  );
  if (all.length === 0) return [];
  const more = all.length > MOST_FINDINGS ? [`- and ${all.length - MOST_FINDINGS} more`] : [];
  return [...all.slice(0, MOST_FINDINGS), ...more, ''];
}

function summary(rows) {
  const played = rows.filter(({ failure }) => failure === undefined);
  const sum = (of) => played.reduce((total, row) => total + of(row), 0);
  const parts = [
    `${sum((row) => count(row, 'lost'))} lost`,
    `${sum((row) => count(row, 'doubled'))} doubled`,
    `${sum((row) => count(row, 'wrong'))} wrong`,
    `${sum(faultsOf)} x ${FAULT_CODE}`,
  ];
  if (played.length < rows.length) parts.push(`${rows.length - played.length} not played`);
  return parts.join(', ');
}
