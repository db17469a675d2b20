import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { createReportText, type ReportFormat } from '../../settlement/report-format.js';
import { reportSettlement, type SettlementSummary } from '../../settlement/settlement-report.js';
import { inTransaction, type OperatorWithClock } from '../operator.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import { requireBegunMonth } from './months.js';
import { findMonthState } from './settlement-months.js';

/** `month` is a month in Asia/Shanghai (yyyy-MM). In production it must have begun. */
export type SettlementReportInput = Readonly<{ appId: string; month: string; format: ReportFormat }>;

/**
 * Streams a channel's settlement report of a month to `write`. A transaction is open during `write`, so `write` should
 * be fast, such as a write to a file. The report is complete only when this function has returned.
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
