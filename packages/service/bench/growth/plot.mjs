import { GOAL } from './table.mjs';

const WIDTH = 720;
const HEIGHT = 400;
const PLOT = { left: 56, right: 560, top: 24, bottom: 348 };
/** The lines also alternate between two marks, for readers who cannot distinguish colours. */
const COLOURS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#8c564b', '#e377c2', '#17becf'];

/**
 * Returns an SVG chart: the CPU cost of each operation by number of orders, as a multiple of its cost at the smallest
 * number of orders.
 */
export function plotOf(rows) {
  const measured = rows.filter(({ cost }) => Number.isFinite(cost));
  const sizes = [...new Set(measured.map(({ size }) => size))].sort((a, b) => a - b);
  const most = Math.max(1.5, ...measured.map(({ cost }) => cost)) * 1.05;
  const [least, last] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 10)];
  const x = (size) => PLOT.left + ((Math.log10(size) - least) / (last - least || 1)) * (PLOT.right - PLOT.left);
  const y = (cost) => PLOT.bottom - (cost / most) * (PLOT.bottom - PLOT.top);
  const lines = [...new Set(measured.map(({ name }) => name))].map((name, at) => {
    const points = measured.filter((row) => row.name === name).map(({ size, cost }) => [x(size), y(cost)]);
    return lineOf(name, points, at);
  });
  const steps = Array.from({ length: Math.floor(most / 0.25) + 1 }, (_, n) => n * 0.25);
  const title = `CPU of an operation, as a multiple of that at ${(sizes[0] ?? 0).toLocaleString('en-US')} orders`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${PLOT.left}" y="14">${title}</text>
${steps.map((step) => levelOf(step, y(step))).join('\n')}
${sizes.map((size) => `<text x="${shown(x(size))}" y="${PLOT.bottom + 18}" text-anchor="middle">${size.toLocaleString('en-US')}</text>`).join('\n')}
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 38}" text-anchor="middle">orders</text>
<path d="M${PLOT.left} ${shown(y(GOAL))}H${PLOT.right}" stroke="#000000" stroke-dasharray="6 4"/>
<text x="${PLOT.right + 8}" y="${shown(y(GOAL) + 4)}">goal: at most ${GOAL.toFixed(1)}</text>
${lines.join('\n')}
</svg>
`;
}

const shown = (value) => value.toFixed(1);

const levelOf = (step, at) =>
  `<path d="M${PLOT.left} ${shown(at)}H${PLOT.right}" stroke="#dddddd"/><text x="${PLOT.left - 8}" y="${shown(at + 4)}" text-anchor="end">${step.toFixed(2)}</text>`;

/** Draws one line of the chart. Its name is in a list on the right, not beside the line. */
function lineOf(name, points, at) {
  const colour = COLOURS[at % COLOURS.length];
  const path = points.map(([px, py]) => `${shown(px)} ${shown(py)}`).join('L');
  const mark = ([px, py]) =>
    at % 2 === 0
      ? `<circle cx="${shown(px)}" cy="${shown(py)}" r="4" fill="${colour}"/>`
      : `<rect x="${shown(px - 4)}" y="${shown(py - 4)}" width="8" height="8" fill="${colour}"/>`;
  const place = PLOT.bottom - 20 * (COLOURS.length - at);
  return `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>${points.map(mark).join('')}${mark([PLOT.right + 14, place])}<text x="${PLOT.right + 26}" y="${place + 4}">${name}</text>`;
}
