import { aligned } from '../../bench/table.mjs';

/** What a bystander may notice of an attack at most, and what the node may take. */
const WORST_MS = 2_000;
const PEAK_MB = 1_024;

/** Everything that must not be, in words. */
export function harmOf({ bystander, peakMb, node, findings }) {
  const { answers, failures, firstFailure, worstMs } = bystander;
  return [
    ...(answers === 0 ? ['the bystander had no answer at all'] : []),
    ...(Object.keys(failures).length > 0 ? [`the bystander failed (${counts(failures)}), first ${firstFailure}`] : []),
    ...(worstMs >= WORST_MS ? [`the bystander waited ${whole(worstMs)} ms`] : []),
    ...(peakMb >= PEAK_MB ? [`the node took ${whole(peakMb)} MB`] : []),
    ...(node === 'alive' ? [] : [`the node ${node}`]),
    ...findings,
  ];
}

const COLUMNS = [
  ['attack', ({ attack }) => attack],
  ['requests', ({ requests }) => String(requests)],
  ['answers', ({ bystander }) => String(bystander.answers)],
  ['failed', ({ bystander }) => counts(bystander.failures)],
  ['worst ms', ({ bystander }) => whole(bystander.worstMs)],
  ['p99 ms', ({ bystander }) => whole(bystander.p99Ms)],
  ['stall ms', ({ bystander }) => whole(bystander.stallMs)],
  ['peak MB', ({ peakMb }) => (peakMb === undefined ? 'n/a' : whole(peakMb))],
  ['node', ({ node }) => node],
  ['result', (result) => (harmOf(result).length === 0 ? 'held' : 'HARM')],
];

const LEGEND = `requests: of the attack. From answers to stall: what the bystander saw, who sends 20 requests a second; stall is the
longest that /healthz took, so the node stood still for about as long. Held: no answer to the bystander failed or took
${WORST_MS} ms, the node lived and stayed below ${PEAK_MB} MB, and the attack got nothing that it must not get.
`;

export function report(results) {
  const rows = results.map((result) => COLUMNS.map(([, of]) => of(result)));
  return [aligned([COLUMNS.map(([head]) => head), ...rows]), LEGEND, results.map(notesOn).join('')].join('\n');
}

function notesOn(result) {
  const { attack, ended, figures, bystander } = result;
  const { withoutCpu } = bystander;
  const lines = [
    `the attack's requests ended as: ${counts(ended)}`,
    ...Object.entries(figures).map(([name, value]) => `${name}: ${value}`),
    ...(withoutCpu === undefined
      ? []
      : [`the node could have run and had no CPU for ${whole(withoutCpu * 100)} % of the time`]),
    ...harmOf(result).map((harm) => `HARM: ${harm}`),
  ];
  return `${[attack, ...lines.map((line) => `  ${line}`)].join('\n')}\n`;
}

const whole = (value) => value.toFixed(0);

function counts(tallied) {
  const parts = Object.entries(tallied).map(([what, count]) => `${what} x${count}`);
  return parts.join(', ') || 'none';
}
