import { Type } from '@perennial/wire';
import { listChannelFees, setChannelFees } from '../operator/books/channel-fees.js';
import { listSettlementLines } from '../operator/books/settlement-lines.js';
import {
  closeSettlementMonth,
  listSettlementMonths,
  type SettlementMonth,
  showSettlementMonth,
} from '../operator/books/settlement-months.js';
import { writeSettlementReport } from '../operator/books/settlement-reports.js';
import { refusal } from '../operator/operator.js';
import * as schemas from '../operator/schemas/books.js';
import { createCsvTable } from '../platform/csv/csv-field.js';
import { areZero, ZERO_SUMS } from '../settlement/sums.js';
import { spool } from './command/files.js';
import { command, createCsvAnswer, datedName, FileAnswer, operation } from './operation.js';
import { feeTable, monthTable, settlementMonthText } from './texts/settlement-text.js';

export const settlementOperations = [
  operation({
    method: 'GET',
    path: '/settlement',
    summary: 'Months with their status, latest first',
    answer: schemas.settlementMonths,
    run: listSettlementMonths,
    toAnswer: (months) => ({ months }),
    command: { usage: 'settlement months', examples: ['months'], text: monthTable },
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}',
    summary: 'All channels of a month; a closed month keeps its figures',
    answer: schemas.settlementMonth,
    run: showSettlementMonth,
    command: { usage: 'settlement month <month>', examples: ['month 2026-01'], text: settlementMonthText },
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}/csv',
    summary: 'The settlement of a month as CSV',
    answer: schemas.settlementMonth,
    async run(operator, { month }) {
      const shown = await showSettlementMonth(operator, { month });
      return createCsvAnswer(datedName(operator, 'settlement', month), monthAsCsv(shown));
    },
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}/lines',
    summary: 'The payments and refunds of a channel in a month, in the order of their times',
    query: schemas.linesQuery,
    answer: schemas.lines,
    run: listSettlementLines,
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}/lines/csv',
    summary: 'All matching payments and refunds of a channel in a month as CSV',
    query: schemas.linesExportQuery,
    answer: schemas.lines,
    async run(operator, { month, appId, ...filter }) {
      const input = { appId, month, format: 'spreadsheet', filter } as const;
      const pieces = await spool((write) => writeSettlementReport(operator, input, write));
      return new FileAnswer(datedName(operator, 'settlement', appId, month), 'text/csv; charset=utf-8', pieces);
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/fees',
    summary: 'The fees and the revenue shares of a channel, the latest month first',
    answer: schemas.fees,
    run: listChannelFees,
    toAnswer: (fees) => ({ fees }),
    command: { usage: 'settlement fees <app-id>', examples: ['fees test_demo'], text: feeTable },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/fees',
    role: 'admin',
    needsProof: true,
    summary: 'Set the fee and the revenue share of a channel from a month on',
    body: schemas.feesRequest,
    answer: schemas.feesChanged,
    run: setChannelFees,
    secondPerson: {},
    command: {
      usage: 'settlement set-fees <app-id>',
      examples: ['set-fees test_demo --from 2026-12 --fee-basis-points 60 --fee-cents 10 --share-basis-points 7000'],
      fields: {
        fromMonth: ['--from <month>', 'first month, which must be open'],
        feeBasisPoints: ['--fee-basis-points <n>', 'part of each debit, in hundredths of a percent'],
        feeFixedCent: ['--fee-cents <n>', 'fixed amount of each debit, in cents'],
        shareBasisPoints: [
          '--share-basis-points <n>',
          'the channel’s part of its revenue after refunds and fees, in hundredths of a percent',
        ],
      },
      text: ({ fees, changed }, money) => (changed ? feeTable(fees, money) : 'nothing changed'),
    },
  }),
  operation({
    method: 'POST',
    path: '/settlement/{month}/close',
    role: 'finance',
    needsProof: true,
    summary: 'Freeze a month’s figures; the earliest open month first',
    body: schemas.closeMonthRequest,
    answer: schemas.settlementMonth,
    async run(operator, { month, confirmation, note }) {
      if (confirmation !== month) throw refusal('month-not-typed')`to close ${month}, type ${month}`;
      return closeSettlementMonth(operator, { month, note });
    },
  }),
  command({
    usage: 'settlement close <month>',
    summary: 'freeze a month’s figures; the earliest open month first',
    examples: ['close 2026-01', 'close 2026-01 --note "agreed with the partners, ticket 4711"'],
    body: Type.Object({ note: Type.Optional(Type.String()) }),
    fields: { note: ['--note <text>', 'what was agreed'] },
    run: closeSettlementMonth,
    text: settlementMonthText,
  }),
];

const CSV = createCsvTable([
  ...(['month', 'status', 'appId', 'channel', 'part', 'productCode', 'settlementMode'] as const),
  ...(['collectedCent', 'collectedCount', 'refundedCent', 'refundedCount', 'billedCent', 'billedCount'] as const),
  ...(['feeCent', 'shareCent', 'payableCent', 'currency'] as const),
]);

const NO_FEES = { feeCent: 0, shareCent: 0, payableCent: 0 };

/**
 * Writes no totals, so that a column can be summed. `LATER` rows contain changes to earlier months that are closed.
 * `FEES` rows contain the fee, the share and the payable amount of a channel.
 */
async function* monthAsCsv({ month, status, currency, channels }: SettlementMonth): AsyncGenerator<string> {
  yield CSV.header;
  for (const { appId, name: channel, products, later, fees, payableCent } of channels) {
    const ofMonth = { part: 'MONTH', productCode: '', settlementMode: '', ...NO_FEES };
    const rows = [
      ...products.map((product) => ({ ...ofMonth, ...product })),
      ...(areZero(later) ? [] : [{ ...ofMonth, ...later, part: 'LATER' }]),
      ...(fees ? [{ ...ofMonth, ...ZERO_SUMS, ...fees, payableCent, part: 'FEES' }] : []),
    ];
    for (const row of rows) yield CSV.toRow({ month, status, appId, channel, currency, ...row });
  }
}
