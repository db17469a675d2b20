import type { DifferenceView } from '../../reconciliation/differences-sql.js';
import type { ReconciliationView } from '../../reconciliation/reconciliation-runs-sql.js';
import type { SafeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';
import type { MoneyText } from '../operation.js';

export function reconciliationText(one: ReconciliationView): SafeText {
  return record([
    ['Payment channel', one.paymentChannelCode],
    ['Day', one.day],
    ['Statement', `${one.lines} lines, from ${one.source === 'FILE' ? 'a file' : 'the bridge'}`],
    ['Differences', `${one.differences}`],
    ['Open', one.open === 0 ? 'none' : `${one.open}; see perennial reconciliation differences`],
  ]);
}

export function dayTable(days: readonly ReconciliationView[]): SafeText {
  return table(
    ['DAY', 'PAYMENT CHANNEL', 'LINES', 'DIFFERENCES', 'OPEN', 'FROM', 'RUN BY', 'RUN AT'],
    days.map((one) => [
      one.day,
      one.paymentChannelCode,
      `${one.lines}`,
      `${one.differences}`,
      `${one.open}`,
      one.source,
      one.runBy,
      one.runAt,
    ]),
  );
}

export function differenceTable(differences: readonly DifferenceView[], money: MoneyText): SafeText {
  return table(
    ['NO', 'DAY', 'PAYMENT CHANNEL', 'KIND', 'LINE', 'NUMBER', 'HERE', 'THERE', 'FIRST SEEN', 'CLOSED'],
    differences.map((one) => [
      one.differenceNo,
      one.day,
      one.paymentChannelCode,
      one.kind,
      one.lineKind,
      one.number,
      sideText(one.hereStatus, one.hereAmountCent, money),
      sideText(one.thereStatus, one.thereAmountCent, money),
      one.firstSeenAt,
      one.closedAt === null ? '' : `${one.closedBy}: ${one.closingNote}`,
    ]),
  );
}

function sideText(status: string | null, amountCent: number | null, money: MoneyText): string {
  return amountCent === null ? 'nothing' : `${status} ${money(amountCent)}`;
}
