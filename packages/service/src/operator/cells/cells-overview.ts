import type { Static } from '@perennial/wire';
import { severityOf } from '../../alerts/alerts-sql.js';
import { FIGURE_NAMES, type Figures, perFigure } from '../../figures/figures.js';
import type { OperatorWithClock } from '../operator.js';
import { showOverview } from '../overview/overview.js';
import { CELL_COUNTS, type cellsOverview, type cellsQuery } from '../schemas/overview.js';
import type { CellAnswer, CellAsker } from './ask-cells.js';

const ALERTS_SHOWN = 20;

type CellsOverview = Static<typeof cellsOverview>;
type OneCell = CellsOverview['cells'][number];
type OneAlert = CellsOverview['alerts'][number];

/** Returns the figures and open alerts of all cells, added up. A cell that does not answer is left out of the sums. */
export async function showCells(
  operator: OperatorWithClock,
  { range = '24h' }: Static<typeof cellsQuery>,
  asker: Pick<CellAsker, 'cell' | 'cells' | 'ask'>,
): Promise<CellsOverview> {
  const [own, others] = await Promise.all([showOverview(operator, { range }), asker.ask(`range=${range}`)]);
  const consoleUrl = asker.cells.find(({ cell }) => cell === asker.cell)?.console ?? null;
  const all: CellAnswer[] = [{ cell: asker.cell, consoleUrl, answer: own, problem: null }, ...others];
  const cells = all.map(toOneCell).toSorted((a, b) => a.cell - b.cell);
  const alerts = all.flatMap(toAlerts).toSorted(bySeverityAndTime);
  return {
    range,
    from: own.from,
    to: own.to,
    totals: addUp(cells.map(({ totals }) => totals)),
    now: addCounts(cells.map(({ now }) => now)),
    cells,
    alerts: alerts.slice(0, ALERTS_SHOWN),
  };
}

/** A record of another cell. Its version may lack a field or have others. */
type Loose = Readonly<Record<string, unknown>>;
const record = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const number = (value: unknown): number => (Number.isSafeInteger(value) ? Number(value) : 0);

function toOneCell({ cell, consoleUrl, answer, problem }: CellAnswer): OneCell {
  const { totals, now } = record(answer);
  return {
    cell,
    consoleUrl,
    problem,
    totals: addUp([record(totals) as Figures]),
    now: addCounts([record(now) as OneCell['now']]),
  };
}

function toAlerts({ cell, answer }: CellAnswer): OneAlert[] {
  const { alerts } = record(answer);
  return (Array.isArray(alerts) ? alerts : []).map(record).map((one) => ({
    cell,
    kind: String(one['kind']),
    severity: severityOf(String(one['kind'])),
    subject: String(one['subject']),
    lastSeenAt: String(one['lastSeenAt']),
  }));
}

const SEVERITIES: readonly OneAlert['severity'][] = ['critical', 'warning', 'info'];
const bySeverityAndTime = (a: OneAlert, b: OneAlert): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || (a.lastSeenAt < b.lastSeenAt ? 1 : -1);

function addUp(all: readonly Figures[]): Figures {
  const sums = perFigure(0);
  for (const figures of all) for (const name of FIGURE_NAMES) sums[name] += number(figures[name]);
  return sums;
}

function addCounts(all: readonly OneCell['now'][]): OneCell['now'] {
  const sums = Object.fromEntries(CELL_COUNTS.map((name) => [name, 0])) as Record<(typeof CELL_COUNTS)[number], number>;
  for (const counts of all) for (const name of CELL_COUNTS) sums[name] += number(counts[name]);
  return sums;
}
