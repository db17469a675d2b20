import type { listChannelFees } from '../../operator/books/channel-fees.js';
import type { MonthInList, SettlementMonth } from '../../operator/books/settlement-months.js';
import type { SettlementSummary } from '../../settlement/settlement-report.js';
import { areZero, type Sums } from '../../settlement/sums.js';
import { paragraphs, type SafeText, safeText } from '../command/safe-text.js';
import { table } from '../command/table.js';
import type { MoneyText } from '../operation.js';

export function monthTable(months: readonly MonthInList[]): SafeText {
  // Skips the first row: it is the current month, which cannot be closed yet.
  const next = months.slice(1).findLast(({ status }) => status === 'OPEN');
  return table(
    ['MONTH', 'STATUS', 'CLOSED BY', 'CLOSED AT'],
    months.map((one) => [
      one.month,
      one === next ? 'OPEN, next to close' : one.status,
      one.closedBy ?? '',
      one.closedAt ?? '',
    ]),
  );
}

export const feeTable = (fees: readonly ChannelFees[], money: MoneyText): SafeText =>
  table(
    ['FROM', 'FEE', 'AND PER DEBIT', 'SHARE OF THE CHANNEL', 'SET BY', 'SET AT'],
    fees.map((one) => [
      one.fromMonth,
      percent(one.feeBasisPoints),
      money(one.feeFixedCent),
      percent(one.shareBasisPoints),
      one.setBy,
      one.setAt,
    ]),
  );

type ChannelFees = Awaited<ReturnType<typeof listChannelFees>>[number];

const percent = (basisPoints: number): string => `${(basisPoints / 100).toFixed(2)} %`;

export function settlementMonthText(one: SettlementMonth, money: MoneyText): SafeText {
  const hasFees = one.feeCent !== null;
  const rows = one.channels.map((channel) => [
    channel.appId,
    ...sumCells(channel, money),
    channel.laterCent === 0 ? '-' : money(channel.laterCent),
    ...(hasFees ? feeCells({ ...channel.fees, payableCent: channel.payableCent }, money) : []),
  ]);
  const later = one.laterCent === 0 ? '-' : money(one.laterCent);
  return paragraphs([
    safeText`${one.month}${stateText(one)}`,
    table(
      [
        'CHANNEL',
        'COLLECTED',
        'REFUNDED',
        'BILLED',
        'OF EARLIER MONTHS',
        ...(hasFees ? ['FEE', 'SHARE', 'PAYABLE TO CHANNEL'] : []),
      ],
      [...rows, ['Total', ...sumCells(one.totals, money), later, ...(hasFees ? feeCells(one, money) : [])]],
    ),
    ...unsettledText(one.unsettled, one.status),
  ]);
}

const feeCells = (
  fees: { readonly [Name in 'feeCent' | 'shareCent' | 'payableCent']?: number | null },
  money: MoneyText,
): string[] =>
  [fees.feeCent, fees.shareCent, fees.payableCent].map((cents) =>
    cents === null || cents === undefined ? '-' : money(cents),
  );

function stateText({ status, monthIsOver, closedBy, closedAt }: Omit<MonthInList, 'month'> & { monthIsOver: boolean }) {
  if (status === 'CLOSED') return `, closed by ${closedBy} at ${closedAt}`;
  return monthIsOver ? '' : ' (not over yet)';
}

function unsettledText(open: number, status: 'OPEN' | 'CLOSED'): SafeText[] {
  if (open === 0) return [];
  if (status === 'CLOSED')
    return [
      safeText`${open} debits or refunds had no result when the month was closed: those that succeed count in a later month.`,
    ];
  return [
    safeText`${open} debits or refunds that began before the end of the month have no result yet: the month may still change.`,
  ];
}

export function summaryText(summary: SettlementSummary, money: MoneyText): SafeText {
  const { appId, month, status, unsettled, products, totals, later, sinceClosed, fees, payableCent } = summary;
  const rows = products.map((one) => [one.productCode, one.settlementMode, ...sumCells(one, money)]);
  const more = (name: string, sums: Sums) => (areZero(sums) ? [] : [[name, '', ...sumCells(sums, money)]]);
  const sums = table(
    ['PRODUCT', 'MODE', 'COLLECTED', 'REFUNDED', 'BILLED'],
    [
      ...rows,
      ['Total', '', ...sumCells(totals, money)],
      ...more('Of earlier months', later),
      ...more('Since', sinceClosed),
    ],
  );
  return paragraphs([
    safeText`${appId}, ${month}${stateText(summary)}`,
    sums,
    ...(fees
      ? [
          safeText`Fee ${money(fees.feeCent)}, share of the channel ${money(fees.shareCent)}, payable to the channel ${money(payableCent ?? 0)}`,
        ]
      : []),
    ...(status === 'CLOSED' ? [] : unsettledText(unsettled.debits + unsettled.refunds, status)),
  ]);
}

function sumCells(sums: Sums, money: MoneyText): string[] {
  const cell = (cents: number, count: number) => (count === 0 && cents === 0 ? '-' : `${money(cents)} (${count})`);
  return [
    cell(sums.collectedCent, sums.collectedCount),
    cell(sums.refundedCent, sums.refundedCount),
    cell(sums.billedCent, sums.billedCount),
  ];
}
