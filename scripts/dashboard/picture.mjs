import { chromium as playwright } from 'playwright-core';
import { chromium } from '../debian.mjs';

const WIDTH = 1440;
const PLOT = { width: 430, height: 150, left: 46, right: 8, top: 8, bottom: 20 };
const COLOURS = ['#2f6fb5', '#d9822b', '#3a9a5c', '#b8405e', '#7a57b0', '#8a7a3a', '#3aa0a8', '#6b7280'];
const MOST_NAMES = 6;

/** The panels as a page, and the page as a picture. */
export async function drawPicture(panels, { from, until, file }) {
  const browser = await playwright.launch({
    executablePath: chromium(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 }, deviceScaleFactor: 1.5 });
    await page.setContent(pageOf(panels, { from, until }));
    await page.screenshot({ path: file, fullPage: true });
  } finally {
    await browser.close();
  }
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function pageOf(panels, span) {
  const parts = panels.map((panel) =>
    panel.type === 'row' ? `<h2>${escaped(panel.title)}</h2>` : panelOf(panel, span),
  );
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 24px; font: 13px/1.4 system-ui, "DejaVu Sans", sans-serif; color: #1f2933; background: #fff;
      display: grid; grid-template-columns: repeat(3, 1fr); gap: 14px; }
    h1 { grid-column: 1 / -1; margin: 0; font-size: 22px; font-weight: 600; }
    h2 { grid-column: 1 / -1; margin: 10px 0 0; font-size: 15px; font-weight: 600; color: #52606d;
      border-bottom: 1px solid #d9e0e7; padding-bottom: 4px; }
    section { border: 1px solid #d9e0e7; border-radius: 6px; padding: 10px 12px; }
    h3 { margin: 0 0 6px; font-size: 13px; font-weight: 600; }
    svg { display: block; width: 100%; height: auto; }
    text { font-size: 10.5px; fill: #7b8794; }
    ul { list-style: none; margin: 4px 0 0; padding: 0; min-height: 36px; display: flex; flex-wrap: wrap; gap: 2px 12px;
      font-size: 11.5px; color: #3e4c59; align-content: flex-start; }
    i { display: inline-block; width: 10px; height: 3px; margin-right: 5px; vertical-align: middle; }
  </style><h1>Perennial</h1>${parts.join('')}`;
}

function panelOf({ title, series, fieldConfig }, span) {
  const { unit, min } = fieldConfig.defaults;
  const names = series.slice(0, MOST_NAMES).map(({ name, points }, place) => {
    const last = shown(points.at(-1)[1], unit);
    return `<li><i style="background:${COLOURS[place % COLOURS.length]}"></i>${escaped(name)} ${last}</li>`;
  });
  if (series.length > MOST_NAMES) names.push(`<li>and ${series.length - MOST_NAMES} more</li>`);
  return `<section><h3>${escaped(title)}</h3>${plotOf(series, { unit, min, ...span })}<ul>${names.join('')}</ul></section>`;
}

function plotOf(series, { unit, min, from, until }) {
  const { width, height, left, right, top, bottom } = PLOT;
  const inner = { right: width - right, bottom: height - bottom };
  const frame = `<rect x="${left}" y="${top}" width="${inner.right - left}" height="${inner.bottom - top}" fill="#f8fafc"/>`;
  if (series.length === 0) {
    const middle = (left + inner.right) / 2;
    return `<svg viewBox="0 0 ${width} ${height}">${frame}<text x="${middle}" y="${height / 2}" text-anchor="middle">nothing happened</text></svg>`;
  }
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const scale = scaleOf(min === undefined ? Math.min(0, ...values) : min, Math.max(...values), unit);
  const x = (at) => left + ((at - from) / (until - from)) * (inner.right - left);
  const y = (value) => inner.bottom - ((value - scale.from) / (scale.to - scale.from)) * (inner.bottom - top);
  const lines = scale.steps.map(
    (value) =>
      `<line x1="${left}" x2="${inner.right}" y1="${y(value)}" y2="${y(value)}" stroke="#e4e9ee"/>` +
      `<text x="${left - 6}" y="${y(value) + 3.5}" text-anchor="end">${shown(value, unit)}</text>`,
  );
  const clock = [from, (from + until) / 2, until].map((at, place) => {
    const text = new Date(at * 1000).toISOString().slice(11, 19);
    return `<text x="${x(at)}" y="${height - 5}" text-anchor="${['start', 'middle', 'end'][place]}">${text}</text>`;
  });
  const paths = series.map(({ points }, place) => {
    const path = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<polyline points="${path}" fill="none" stroke="${COLOURS[place % COLOURS.length]}" stroke-width="1.6" stroke-linejoin="round"/>`;
  });
  return `<svg viewBox="0 0 ${width} ${height}">${frame}${lines.join('')}${clock.join('')}${paths.join('')}</svg>`;
}

/** From and to round numbers, in few steps. Counts have no halves. */
function scaleOf(low, high, unit) {
  const span = high - low || (unit === 'short' ? 1 : Math.abs(high) || 1);
  const rough = span / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= rough);
  const step = unit === 'short' ? Math.max(1, Math.ceil(nice)) : nice;
  const from = Math.floor(low / step) * step;
  const to = Math.max(from + step, Math.ceil((high || step) / step) * step);
  return { from, to, steps: Array.from({ length: Math.round((to - from) / step) + 1 }, (_, n) => from + n * step) };
}

function shown(value, unit) {
  if (unit === 'bytes') return `${Math.round(value / 1e6)} MB`;
  if (unit === 'percentunit') return `${Math.round(value * 1000) / 10}%`;
  if (unit === 's') return Math.abs(value) >= 1 || value === 0 ? `${round(value)} s` : `${round(value * 1000)} ms`;
  return unit === 'reqps' || unit === 'ops' ? `${round(value)}/s` : `${round(value)}`;
}

const round = (value) => Number(value.toPrecision(2) * 1 >= 100 ? value.toFixed(0) : value.toPrecision(2));
