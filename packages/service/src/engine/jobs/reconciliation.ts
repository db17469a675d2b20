import { formatTime } from '@perennial/wire';
import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import { PlainError } from '../../platform/plain-error.js';
import { reconcile } from '../../reconciliation/reconcile.js';
import {
  type DayOfChannel,
  findDaysToReconcile,
  leaseReconciliationHour,
} from '../../reconciliation/reconciliation-runs-sql.js';
import { readStatementFromGateway, withoutOtherCells, withStatement } from '../../reconciliation/statement.js';
import type { JobDeps } from '../job-deps.js';

export type ReconciliationDeps = Pick<
  JobDeps,
  'database' | 'gateways' | 'clock' | 'log' | 'stopping' | 'cell' | 'cells'
>;

/** The hour in Asia/Shanghai by which institutions have closed the previous day. */
const FIRST_HOUR = 3;
/**
 * Each of the last 7 days is retried until it is reconciled, and repeated each morning while it has open differences.
 */
const DAYS_BACK = 7;

/**
 * Reconciles the open days of every bridge, each bridge on one node and at most once an hour. Returns the number of
 * reconciled days. If a day fails, raises an alert and retries the day an hour later. Other days are not affected.
 */
export async function reconcileDays(deps: ReconciliationDeps): Promise<number> {
  const [today = '', time = ''] = formatTime(deps.clock.now()).split(' ');
  if (Number(time.slice(0, 2)) < FIRST_HOUR) return 0;
  const waiting = await findDaysToReconcile(deps.database, { today, hour: FIRST_HOUR, back: DAYS_BACK });
  let done = 0;
  for (const { paymentChannelCode, days } of waiting) {
    if (!(await leaseReconciliationHour(deps.database, paymentChannelCode))) continue;
    for (const day of days) {
      if (deps.stopping?.()) return done;
      if (await reconcileDay(deps, { paymentChannelCode, day })) done += 1;
    }
  }
  return done;
}

async function reconcileDay(deps: ReconciliationDeps, which: DayOfChannel): Promise<boolean> {
  const { database, gateways, clock, log, cell = 0, cells = [] } = deps;
  const { paymentChannelCode, day } = which;
  try {
    const gateway = await gateways.of(paymentChannelCode);
    const lines = withoutOtherCells(readStatementFromGateway(gateway, day), cells, cell);
    await withStatement(lines, day, (statement) =>
      database.transaction((tx) =>
        reconcile(tx, { ...which, source: 'GATEWAY', runBy: 'engine', runAt: clock.now() }, statement),
      ),
    );
    return true;
  } catch (err) {
    log.warn({ err, paymentChannelCode, day }, 'a day could not be reconciled; it will be retried in an hour');
    const why = err instanceof PlainError ? err.message : alertText('reconciliation-failed');
    await raiseAlert(database, 'reconciliation-failed', `${paymentChannelCode} ${day}`, why).catch(() => undefined);
    return false;
  }
}
