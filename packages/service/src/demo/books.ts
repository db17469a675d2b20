import { formatTime, parseTime } from '@perennial/wire';
import { alertText } from '../alerts/alert-wordings.js';
import { resolveAlert } from '../alerts/alerts-sql.js';
import {
  closeDifference,
  listDifferences,
  runReconciliation,
  setDifferenceOwner,
} from '../operator/books/reconciliation.js';
import { STATEMENT_COLUMNS } from '../reconciliation/statement-csv.js';
import { DIFFERENCE_NOTES, type PersonName } from './cast.js';
import { type BookedLine, findBooked } from './demo-sql.js';
import type { Provisioned } from './provision.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Stage } from './stage.js';

const DAYS = 14;
/** From then on differences are still being looked into. */
const OPEN_DAYS = 3;

/** Every morning somebody of finance compares the statement of the day before; not all of them agree. */
export function planReconciliations(stage: Stage, { codes }: Provisioned): void {
  const { agenda, end, random } = stage;
  for (let ago = DAYS; ago >= 1; ago -= 1) {
    const day = formatTime(end - ago * DAY_MS).slice(0, 10);
    const midnight = parseTime(`${day} 00:00:00`) ?? 0;
    for (const [index, code] of codes.entries()) {
      const at = midnight + DAY_MS + 9 * HOUR_MS + random.between(5, 55) * MINUTE_MS;
      const who: PersonName = (ago + index) % 3 === 0 ? 'dora' : 'chen';
      const flaw = FLAWS[(ago * codes.length + index) % FLAWS.length];
      agenda.at(at, () => reconcileDay(stage, { code, day, midnight, who, flaw }));
    }
  }
}

type Flaw = (lines: readonly StatementText[]) => readonly StatementText[];

interface StatementText extends BookedLine {
  readonly status: string;
}

/** What is wrong with a statement, in turn. Undefined: nothing. */
const FLAWS: readonly (Flaw | undefined)[] = [
  undefined,
  (lines) => lines.slice(1),
  undefined,
  undefined,
  (lines) => lines.map((line, index) => (index === 0 ? { ...line, amountCent: line.amountCent + 100 } : line)),
  undefined,
  (lines) => [...lines, ...lines.slice(0, 1).map((line) => ({ ...line, number: `9${line.number.slice(1)}` }))],
  undefined,
  undefined,
  (lines) => lines.map((line, index) => (index === 0 ? { ...line, status: 'FAIL' } : line)),
  (lines) => [...lines, ...lines.slice(0, 1)],
];

interface StatementDay {
  readonly code: string;
  readonly day: string;
  readonly midnight: number;
  readonly who: PersonName;
  readonly flaw: Flaw | undefined;
}

async function reconcileDay(stage: Stage, { code, day, midnight, who, flaw }: StatementDay): Promise<void> {
  const { story, random, agenda, end, by } = stage;
  const booked = await findBooked(story.database, code, midnight, midnight + DAY_MS);
  const lines = booked.map((line) => ({ ...line, status: 'SUCCESS' }));
  const csv = toCsv(flaw?.(lines) ?? lines);
  const found = await by(who, (operator) => runReconciliation(operator, { paymentChannelCode: code, day, csv }));
  await story.dropTables('statement_lines', 'found_differences');
  if (found.differences === 0) return;
  const isLate = end - midnight < (OPEN_DAYS + 1) * DAY_MS;
  const open = await listDifferences(stage.operator, { paymentChannelCode: code, day });
  for (const { differenceNo } of open) {
    await by(who, (operator) => setDifferenceOwner(operator, { differenceNo, owner: who }));
    if (isLate) continue;
    const note = random.pick(DIFFERENCE_NOTES);
    agenda.at(story.clock.now() + random.between(60, 400) * MINUTE_MS, async () => {
      await by(who, (operator) => closeDifference(operator, { differenceNo, note }));
      const left = await listDifferences(stage.operator, { paymentChannelCode: code, day });
      if (left.length > 0) return;
      const because = alertText('reconciliation-difference|resolved');
      await resolveAlert(story.database, 'reconciliation-difference', `${code} ${day}`, because);
    });
  }
}

async function* toCsv(lines: readonly StatementText[]): AsyncGenerator<Uint8Array> {
  const rows = lines.map((line) =>
    [line.kind, line.number, line.amountCent, line.status, line.bookedAt, line.institutionRef].join(','),
  );
  yield Buffer.from([STATEMENT_COLUMNS.join(','), ...rows, ''].join('\n'));
}
