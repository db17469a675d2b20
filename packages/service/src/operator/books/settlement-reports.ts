import type { Environment } from '../../platform/settings.js';
import { createReportText, type ReportFormat } from '../../settlement/report-format.js';
import type { TimeBounds } from '../../settlement/settlement-lines-sql.js';
import { reportSettlement, type SettlementSummary } from '../../settlement/settlement-report.js';
import { inTransaction, type OperatorWithClock, refusal } from '../operator.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import { monthAt, requireMonth } from './months.js';
import { findMonthState } from './settlement-months.js';

export interface SettlementReportInput {
  readonly appId: string;
  /** Of Asia/Shanghai, yyyy-MM; in production one that has begun. */
  readonly month: string;
  readonly format: ReportFormat;
}

/**
 * Writes what a channel's subscriptions brought in a month, piece by piece. `write` is called inside a transaction, so it
 * should be fast, such as to a file. The report is complete only when this has returned.
 */
export async function writeSettlementReport(
  operator: OperatorWithClock,
  { appId, month, format }: SettlementReportInput,
  write: (text: string) => Promise<unknown>,
): Promise<SettlementSummary> {
  const now = operator.clock.now();
  const bounds = requireReportedMonth(month, now, operator.environment);
  const { channelId } = await requireChannelView(operator.database, appId);
  const text = createReportText(format);
  await write(text.begin);
  const summary = await inTransaction(operator, (tx) =>
    reportSettlement(
      tx,
      { appId, channelId, month, bounds, now, findState: (db) => findMonthState(db, month, channelId) },
      async (lines) => {
        await write(text.lines(lines));
      },
    ),
  );
  await write(text.end(summary));
  return summary;
}

function requireReportedMonth(month: string, now: number, environment: Environment): TimeBounds {
  const bounds = requireMonth(month);
  // In the sandbox time travel fills future months, which may be reported.
  if (environment === 'production' && month > monthAt(now)) {
    throw refusal('month-not-begun')`${month} has not begun yet in Asia/Shanghai`;
  }
  return bounds;
}
