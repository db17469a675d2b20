import { parseTime } from '@perennial/wire';
import { raiseAlert } from '../platform/alerts/alerts-sql.js';
import type { Queryable, Transaction } from '../platform/db/database.js';
import {
  askAboutOpen,
  closeVanished,
  findDifferences,
  keepDifferences,
  type ReconciledDay,
  stageLines,
} from './compare-sql.js';
import {
  beginRun,
  countOpen,
  type DayOfChannel,
  endRun,
  findReconciliation,
  type ReconciliationView,
  type Run,
} from './runs-sql.js';
import type { Statement } from './statement.js';

const DAY_MS = 86_400_000;

/** All of it in the transaction that is given: what the statement says about the day, and what follows from it. */
export async function reconcile(
  tx: Transaction,
  run: Omit<Run, 'lines'>,
  statement: Statement,
): Promise<ReconciliationView> {
  const day = boundsOf(run);
  await beginRun(tx, { ...run, lines: statement.lines });
  await stageLines(tx, statement.batches());
  const found = await findDifferences(tx, day);
  await keepDifferences(tx, day, run.runAt);
  await closeVanished(tx, day, run.runAt);
  await askAboutOpen(tx, day);
  await endRun(tx, day, found);
  await alertAboutOpen(tx, day);
  return findReconciliation(tx, day);
}

function boundsOf({ paymentChannelCode, day }: DayOfChannel): ReconciledDay {
  const from = parseTime(`${day} 00:00:00`);
  if (from === undefined) throw new Error(`${day} is not a day`);
  return { paymentChannelCode, day, from, to: from + DAY_MS };
}

async function alertAboutOpen(tx: Queryable, day: ReconciledDay): Promise<void> {
  const open = await countOpen(tx, day);
  if (open.length === 0) return;
  const detail = `open: ${open.map(({ kind, count }) => `${count} ${kind}`).join(', ')}`;
  await raiseAlert(tx, 'reconciliation-difference', `${day.paymentChannelCode} ${day.day}`, detail);
}
