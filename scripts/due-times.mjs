// Simulates the renewals of a year in the largest cell of an installation: when orders fall due, and when they are
// billed or debited. docs/scaling.md has the results. The due times are computed by the service's own code.
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const DAY_MS = 86_400_000;
const OFFSET_MS = 8 * 3_600_000;
/** Midnight of 1 January in Asia/Shanghai. The orders were created in the year before. */
const YEAR_BEGINS = Date.UTC(2027, 0, 1) - OFFSET_MS;
const DAYS = 365;

/** The share of the day's creations in each hour. */
const HOURLY = [2, 1, 1, 1, 1, 2, 4, 7, 9, 10, 11, 11, 12, 10, 9, 9, 9, 10, 11, 12, 13, 12, 8, 4];
/** On these hours of a campaign's day, all its orders are created. */
const CAMPAIGN_HOURS = [20, 23];

/** 31 October: the orders of this campaign fall due on the last day of every month, together with other orders. */
const WORST_DAY = 303;

/** Assumptions. `docs/scaling.md` explains them. */
export const USUAL = {
  orders: 100_000_000,
  cells: 12,
  /** The orders of the largest cell, as a multiple of the average. */
  skew: 1.5,
  /** The share of orders in mode A. */
  debited: 0.5,
  period: 'MONTH',
  campaigns: 4,
  /** The orders of a campaign's day, as a multiple of a usual day's. */
  campaign: 20,
  /** The share of debits that are declined, at the first attempt and at each retry. */
  declined: [0.1, 0.7, 0.7, 0.7, 1],
  /** The hours in which the payment channels accept debits. */
  open: [8, 22],
  /** Debits per second that the payment channels of a cell accept together. */
  pace: 100,
  stepMinutes: 5,
  /** The seed from 1 to 20 that needs the highest pace: three campaigns fall due on 28 February. */
  seed: 6,
};

/** Returns random numbers from 0 to 1, always the same for a seed (mulberry32). */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns how many orders of the largest cell were created in each step of the year before. */
function creations({ orders, cells, skew, campaigns, campaign, stepMinutes, seed }) {
  const random = randomFrom(seed);
  const perDay = 1440 / stepMinutes;
  const hourOf = (step) => Math.floor(((step % perDay) * stepMinutes) / 60);
  const weights = new Float64Array(DAYS * perDay);
  for (let day = 0; day < DAYS; day += 1) {
    const busy = 0.8 + 0.4 * random();
    for (let step = 0; step < perDay; step += 1) weights[day * perDay + step] = busy * HOURLY[hourOf(step)];
  }
  const [from, to] = CAMPAIGN_HOURS;
  const usualDay = HOURLY.reduce((sum, share) => sum + share, 0) * (60 / stepMinutes);
  const steps = ((to - from) * 60) / stepMinutes;
  for (let n = 0; n < campaigns; n += 1) {
    const day = n === 0 ? WORST_DAY : Math.floor(random() * DAYS);
    const begins = day * perDay + (from * 60) / stepMinutes;
    for (let step = 0; step < steps; step += 1) weights[begins + step] += ((campaign - 1) * usualDay) / steps;
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (weight / total) * (orders / cells) * skew);
}

/** Returns how many orders of the largest cell fall due in each step of the year. `periodDueAt` is the service's. */
function dueTimes(options, periodDueAt) {
  const { period, stepMinutes } = options;
  const stepMs = stepMinutes * 60_000;
  const created = creations(options);
  const due = new Float64Array(created.length);
  const cadence = { periodType: period, period: 1 };
  const perDay = 1440 / stepMinutes;
  created.forEach((count, step) => {
    const anchor = YEAR_BEGINS - DAYS * DAY_MS + step * stepMs;
    // Periods before and after the year are left out below.
    const first = period === 'DAY' ? DAYS - Math.floor(step / perDay) : 2;
    const periods = period === 'DAY' ? DAYS + 2 : 24;
    for (let cycleNo = first; cycleNo < first + periods; cycleNo += 1) {
      const at = Math.floor((periodDueAt(anchor, cadence, cycleNo) - YEAR_BEGINS) / stepMs);
      if (at >= 0 && at < due.length) due[at] += count;
    }
  });
  return due;
}

/**
 * Simulates a year. Orders of mode B are billed when they fall due. Orders of mode A wait for the hours and the pace of
 * their payment channels, first come, first served; a declined debit is due again after the service's delay.
 */
export function simulate(options, service) {
  const all = { ...USUAL, ...options };
  return debitAll(all, dueTimes(all, service.periodDueAt), service.retryDelays[all.period]);
}

function debitAll(options, due, retrySeconds) {
  const { debited, declined, open, pace, stepMinutes } = options;
  const perDay = 1440 / stepMinutes;
  const most = pace * stepMinutes * 60;
  const waiting = declined.map((_, attempt) =>
    attempt === 0 ? due.map((count) => count * debited) : due.map(() => 0),
  );
  const debits = new Float64Array(due.length);
  const backlog = new Float64Array(due.length);
  let oldest = 0;
  let longestWait = 0;
  let left = 0;
  for (let step = 0; step < due.length; step += 1) {
    left += waiting.reduce((sum, attempt) => sum + attempt[step], 0);
    const minute = (step % perDay) * stepMinutes;
    let room = minute >= open[0] * 60 && minute < open[1] * 60 ? most : 0;
    while (room > 0 && oldest <= step) {
      for (const [attempt, counts] of waiting.entries()) {
        const sent = Math.min(room, counts[oldest]);
        if (sent === 0) continue;
        counts[oldest] -= sent;
        room -= sent;
        left -= sent;
        debits[step] += sent;
        longestWait = Math.max(longestWait, step - oldest);
        const again = step + Math.ceil((retrySeconds[attempt] ?? Infinity) / (stepMinutes * 60));
        if (again < due.length) waiting[attempt + 1][again] += sent * declined[attempt];
      }
      if (room > 0) oldest += 1;
    }
    backlog[step] = left;
  }
  const closing = Array.from({ length: DAYS }, (_, day) => backlog[day * perDay + (open[1] * 60) / stepMinutes - 1]);
  return { options, due, debits, backlog, longestWait: (longestWait * stepMinutes) / 60, closing };
}

/** Returns the lowest pace, in debits per second, at which no day ends with a renewal that was due and not debited. */
export function neededPace(options, service) {
  const all = { ...USUAL, ...options };
  const due = dueTimes(all, service.periodDueAt);
  let [low, high] = [0, Math.max(...due) / (all.stepMinutes * 60) + 1];
  const isEnough = (pace) => {
    const { closing } = debitAll({ ...all, pace }, due, service.retryDelays[all.period]);
    return closing.every((left) => left < 1);
  };
  while (!isEnough(high)) high *= 2;
  while (high - low > high / 100) {
    const middle = (low + high) / 2;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns the figures of a simulated year, per day and per second. */
export function summary({ options, due, debits, backlog, longestWait, closing }) {
  const perDay = 1440 / options.stepMinutes;
  const seconds = options.stepMinutes * 60;
  const days = Array.from({ length: DAYS }, (_, day) => sum(due.subarray(day * perDay, (day + 1) * perDay)));
  const busiest = days.indexOf(Math.max(...days));
  return {
    renewals: sum(due),
    debits: sum(debits),
    averageDay: sum(due) / DAYS,
    busiestDay: Math.max(...days),
    busiest: dateOf(busiest),
    billsPerSecond: (Math.max(...due) / seconds) * (1 - options.debited),
    debitsPerSecond: Math.max(...debits) / seconds,
    mostWaiting: Math.max(...backlog),
    longestWait,
    daysWithRest: closing.filter((left) => left >= 1).length,
    days,
    busiestAt: busiest,
  };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const dateOf = (day) => new Date(YEAR_BEGINS + OFFSET_MS + day * DAY_MS).toISOString().slice(0, 10);

const BOX = { left: 76, right: 704, width: 720, height: 452 };
const STYLE = `text{font:12px sans-serif;fill:#1f2328}rect{fill:#fff}.g{stroke:#d0d7de}.a{stroke:#0969da;fill:none}.b{stroke:#bc4c00;fill:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#0d1117}.g{stroke:#30363d}.a{stroke:#58a6ff}.b{stroke:#f0883e}}`;

/** Returns an SVG chart: the renewals of each day, and the rates of the busiest day and the day after it. */
export function plotOf(simulated) {
  const { options, due, debits } = simulated;
  const { days, busiestAt, busiest } = summary(simulated);
  const perDay = 1440 / options.stepMinutes;
  const seconds = options.stepMinutes * 60;
  const part = (values) =>
    Array.from(values.subarray(busiestAt * perDay, (busiestAt + 2) * perDay), (count) => count / seconds);
  const millions = (options.orders / 1e6).toLocaleString('en-US');
  const months = Array.from({ length: 12 }, (_, month) => [
    (Date.UTC(2027, month, 15) - Date.UTC(2027, 0, 1)) / DAY_MS / DAYS,
    new Date(Date.UTC(2027, month, 1)).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' }),
  ]);
  const hours = Array.from({ length: 8 }, (_, n) => [n / 8, `${String((n * 6) % 24).padStart(2, '0')}:00`]);
  const all = part(due);
  const sent = part(debits);
  const upper = { top: 32, bottom: 196, most: Math.max(...days) };
  const lower = { top: 268, bottom: 412, most: Math.max(...all, ...sent) };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${BOX.width} ${BOX.height}">
<title>Renewals of the largest of ${options.cells} cells, ${millions} million orders in all</title>
<style>${STYLE}</style>
<rect width="${BOX.width}" height="${BOX.height}"/>
${panel(`Renewals due each day, largest of ${options.cells} cells (${millions} million orders in all)`, upper, months)}
${line(days, upper, 'a')}
${panel(`Per second on ${busiest} and the day after: renewals due (orange), debits sent (blue)`, lower, hours)}
${line(all, lower, 'b')}
${line(sent, lower, 'a')}
</svg>
`;
}

const shown = (value) => String(Math.round(value * 10) / 10);
const x = (share) => shown(BOX.left + share * (BOX.right - BOX.left));

function panel(title, { top, bottom, most }, labels) {
  const step = 10 ** Math.floor(Math.log10(most)) / (most / 10 ** Math.floor(Math.log10(most)) < 3 ? 2 : 1);
  const levels = Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step);
  return [
    `<text x="${BOX.left}" y="${top - 14}">${title}</text>`,
    ...levels.map((level) => {
      const y = shown(bottom - (level / most) * (bottom - top));
      return `<path class="g" d="M${BOX.left} ${y}H${BOX.right}"/><text x="${BOX.left - 6}" y="${Number(y) + 4}" text-anchor="end">${level.toLocaleString('en-US')}</text>`;
    }),
    ...labels.map(([share, text]) => `<text x="${x(share)}" y="${bottom + 18}" text-anchor="middle">${text}</text>`),
  ].join('\n');
}

/** Draws a line that changes in steps. */
function line(values, { top, bottom, most }, name) {
  const y = (value) => shown(bottom - (value / most) * (bottom - top));
  const steps = values.map((value, at) =>
    at === 0 || y(value) !== y(values[at - 1]) ? `H${x(at / values.length)}V${y(value)}` : '',
  );
  return `<path class="${name}" d="M${BOX.left} ${bottom}${steps.join('')}H${BOX.right}"/>`;
}

async function main() {
  const names = ['orders', 'cells', 'skew', 'debited', 'campaigns', 'campaign', 'pace', 'seed'];
  const string = { type: 'string' };
  const { values } = parseArgs({
    options: { ...Object.fromEntries(names.map((name) => [name, string])), period: string, plot: string },
  });
  const { plot, period = USUAL.period, ...given } = values;
  const options = {
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Number(value)])),
    period,
  };
  const dist = new URL('../packages/service/dist/subscriptions/domain/', import.meta.url);
  const { periodDueAt } = await import(new URL('orders/calendar.js', dist).href);
  const { DEFAULT_RETRY_DELAYS: retryDelays } = await import(new URL('payments/debit-policy.js', dist).href);
  const service = { periodDueAt, retryDelays };
  const simulated = simulate(options, service);
  const { days: _, busiestAt: __, ...figures } = summary(simulated);
  for (const [name, value] of Object.entries({ ...figures, neededPace: neededPace(options, service) })) {
    const text = typeof value === 'number' ? (Math.round(value * 10) / 10).toLocaleString('en-US') : value;
    process.stdout.write(`${name.padEnd(16)} ${text}\n`);
  }
  if (plot !== undefined) await writeFile(plot, plotOf(simulated));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
