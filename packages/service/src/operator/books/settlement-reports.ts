import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { createReportText, type ReportFormat } from '../../settlement/report-format.js';
import type { SettlementLine } from '../../settlement/settlement-lines-sql.js';
import { reportSettlement, type SettlementSummary } from '../../settlement/settlement-report.js';
import { inTransaction, type OperatorWithClock } from '../operator.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import { requireBegunMonth } from './months.js';
import { findMonthState } from './settlement-months.js';

/** Selects lines. An unset field selects all. */
export interface LineFilter {
  readonly kind?: string | undefined;
  readonly productCode?: string | undefined;
  readonly settlementMode?: string | undefined;
}

const matches = (line: SettlementLine, { kind, productCode, settlementMode }: LineFilter): boolean =>
  (kind === undefined || line.kind === kind) &&
  (productCode === undefined || line.productCode === productCode) &&
  (settlementMode === undefined || line.settlementMode === settlementMode);

/** `month` is a month in Asia/Shanghai (yyyy-MM). In production it must have begun. */
export type SettlementReportInput = Readonly<{ appId: string; month: string; format: ReportFormat }> & {
  readonly filter?: LineFilter;
};

/**
 * Streams a channel's settlement report of a month to `write`. A transaction is open during `write`, so `write` should
 * be fast, such as a write to a file. The report is complete only when this function has returned.
 */
export async function writeSettlementReport(
  operator: OperatorWithClock,
  { appId, month, format, filter = {} }: SettlementReportInput,
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
        const chosen = lines.filter((line) => matches(line, filter));
        if (chosen.length > 0) await write(text.lines(chosen));
      },
    ),
  );
  await write(text.end(summary));
  return summary;
}
