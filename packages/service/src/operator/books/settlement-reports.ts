import { formatTime, parseTime } from '@perennial/wire';
import type { Environment } from '../../platform/settings.js';
import { createReportText, type ReportFormat } from '../../settlement/report-format.js';
import type { TimeBounds } from '../../settlement/settlement-lines-sql.js';
import { reportSettlement, type SettlementSummary } from '../../settlement/settlement-report.js';
import { inTransaction, OperatorError, type OperatorWithClock } from '../operator.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import { quoted } from '../rules.js';

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
  const bounds = monthBounds(month, now, operator.environment);
  const { channelId } = await requireChannelView(operator.database, appId);
  const text = createReportText(format);
  await write(text.begin);
  const summary = await inTransaction(operator, (tx) =>
    reportSettlement(tx, { appId, channelId, month, bounds, now }, async (lines) => {
      await write(text.lines(lines));
    }),
  );
  await write(text.end(summary));
  return summary;
}

const DAY_MS = 86_400_000;

function monthBounds(month: string, now: number, environment: Environment): TimeBounds {
  const from = /^\d{4}-\d\d$/.test(month) ? parseTime(`${month}-01 00:00:00`) : undefined;
  // Years have four digits, so there is no month after December 9999.
  if (from === undefined || month === '9999-12') {
    throw new OperatorError(`the month must be one such as 2026-01, not ${quoted(month)}`);
  }
  // In the sandbox time travel fills future months, which may be reported.
  if (environment === 'production' && month > formatTime(now).slice(0, 7)) {
    throw new OperatorError(`${month} has not begun yet in Asia/Shanghai`);
  }
  // 31 days after the first of any month is a day of the next.
  const next = formatTime(from + 31 * DAY_MS).slice(0, 7);
  return { from, to: parseTime(`${next}-01 00:00:00`) ?? from };
}
