import { parseTime } from '@perennial/wire';
import { alertText } from '../alerts/alert-wordings.js';
import { lockAlert, raiseAlert, resolveAlert } from '../alerts/alerts-sql.js';
import type { Queryable, Transaction } from '../platform/db/database.js';
import {
  askAboutOpenPayments,
  closeVanishedDifferences,
  collectDifferences,
  type ReconciledDay,
  stageLines,
  storeDifferences,
} from './compare-statement-sql.js';
import {
  beginRun,
  countOpenDifferences,
  type DayOfChannel,
  endRun,
  findReconciliation,
  type ReconciliationRun,
  type ReconciliationView,
} from './reconciliation-runs-sql.js';
import type { InstitutionStatement } from './statement.js';

const DAY_MS = 86_400_000;

/** Compares a day with the institution's statement, and stores the result in the caller's transaction. */
export async function reconcile(
  tx: Transaction,
  run: Omit<ReconciliationRun, 'lines'>,
  statement: InstitutionStatement,
): Promise<ReconciliationView> {
  const { paymentChannelCode } = run;
  const day = withDayBounds(run);
  await beginRun(tx, { ...run, lines: statement.lines });
  await stageLines(tx, statement.batches());
  const found = await collectDifferences(tx, day);
  await storeDifferences(tx, paymentChannelCode, run.day, run.runAt);
  await closeVanishedDifferences(tx, paymentChannelCode, run.day, run.runAt);
  await askAboutOpenPayments(tx, day);
  await endRun(tx, paymentChannelCode, run.day, found);
  await alertAboutOpenDifferences(tx, day);
  return findReconciliation(tx, paymentChannelCode, run.day);
}

function withDayBounds({ paymentChannelCode, day }: DayOfChannel): ReconciledDay {
  const from = parseTime(`${day} 00:00:00`);
  if (from === undefined) throw new Error(`${day} is not a day`);
  return { paymentChannelCode, day, from, to: from + DAY_MS };
}

/**
 * Raises the alert about a day's open differences, or resolves it if none is open. If `write` is `storeAlertDetail`,
 * only updates the detail of an alert that is not resolved.
 */
export async function alertAboutOpenDifferences(
  tx: Queryable,
  { paymentChannelCode, day }: DayOfChannel,
  write: typeof raiseAlert = raiseAlert,
): Promise<void> {
  const kind = 'reconciliation-difference';
  const subject = `${paymentChannelCode} ${day}`;
  // Without the lock, two operators who close differences at the same time would each count the other's as open.
  await lockAlert(tx, kind, subject);
  const open = await countOpenDifferences(tx, paymentChannelCode, day);
  if (open.length === 0) return resolveAlert(tx, kind, subject, alertText(`${kind}|resolved`));
  return write(tx, kind, subject, alertText(kind, open.map((one) => `${one.count} ${one.kind}`).join(', ')));
}
