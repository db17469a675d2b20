import { formatTime } from '@perennial/wire';
import type { Logger } from 'pino';
import type { Gateways } from '../../gateways/registry.js';
import { raiseAlert } from '../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { PlainError } from '../../platform/plain-error.js';
import { reconcile } from '../../reconciliation/reconcile.js';
import { claimHour, type DayOfChannel, findDaysToReconcile } from '../../reconciliation/runs-sql.js';
import { statementFromGateway, withStatement } from '../../reconciliation/statement.js';

export interface ReconciliationDeps {
  readonly database: Database;
  readonly gateways: Gateways;
  readonly clock: Clock;
  readonly log: Logger;
  /** A node that is ending begins no further day. */
  readonly stopping?: () => boolean;
}

/** Of the day in Asia/Shanghai. By then an institution has closed its books of the day before. */
const HOUR = 3;
/** A day that could not be had, or that left differences, is taken up again each morning for a week. */
const DAYS_BACK = 7;

/**
 * Yesterday of every bridge, once a day, by one node. How many days were reconciled. A day that fails is an alert and
 * has its turn again an hour later; the others are none the worse for it.
 */
export async function reconcileDays(deps: ReconciliationDeps): Promise<number> {
  const [today = '', time = ''] = formatTime(deps.clock.now()).split(' ');
  if (Number(time.slice(0, 2)) < HOUR) return 0;
  const waiting = await findDaysToReconcile(deps.database, { today, hour: HOUR, back: DAYS_BACK });
  let done = 0;
  for (const { paymentChannelCode, days } of waiting) {
    if (!(await claimHour(deps.database, paymentChannelCode))) continue;
    for (const day of days) {
      if (deps.stopping?.()) return done;
      if (await succeeds(deps, { paymentChannelCode, day })) done += 1;
    }
  }
  return done;
}

async function succeeds(deps: ReconciliationDeps, which: DayOfChannel): Promise<boolean> {
  const { database, gateways, clock, log } = deps;
  const { paymentChannelCode, day } = which;
  try {
    const gateway = await gateways.of(paymentChannelCode);
    await withStatement(statementFromGateway(gateway, day), day, (statement) =>
      database.transaction((tx) =>
        reconcile(tx, { ...which, source: 'GATEWAY', runBy: 'engine', runAt: clock.now() }, statement),
      ),
    );
    return true;
  } catch (err) {
    log.warn({ err, paymentChannelCode, day }, 'a day could not be reconciled');
    const why = err instanceof PlainError ? err.message : 'the log says why';
    await raiseAlert(database, 'reconciliation-failed', `${paymentChannelCode} ${day}`, why).catch(() => undefined);
    return false;
  }
}
