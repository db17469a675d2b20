import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { createReportText, type ReportFormat } from '../../settlement/report-format.js';
import { reportSettlement, type SettlementSummary } from '../../settlement/settlement-report.js';
import { inTransaction, type OperatorWithClock } from '../operator.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import { requireBegunMonth } from './months.js';
import { findMonthState } from './settlement-months.js';

/** The month is one of Asia/Shanghai, yyyy-MM; in production one that has begun. */
export type SettlementReportInput = Readonly<{ appId: string; month: string; format: ReportFormat }>;

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
  const bounds = requireBegunMonth(month, operator);
  const { channelId } = await requireChannelView(operator.database, appId);
  const { currency = DEFAULT_CURRENCY } = operator;
  const text = createReportText(format, currency);
  await write(text.begin);
  const summary = await inTransaction(operator, (tx) =>
    reportSettlement(
      tx,
      { appId, channelId, month, bounds, now, currency, findState: (db) => findMonthState(db, month, channelId) },
      async (lines) => {
        await write(text.lines(lines));
      },
    ),
  );
  await write(text.end(summary));
  return summary;
}
