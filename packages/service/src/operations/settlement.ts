import { Type } from '@perennial/wire';
import {
  closeSettlementMonth,
  listSettlementMonths,
  type SettlementMonth,
  showSettlementMonth,
} from '../operator/books/settlement-months.js';
import { refusal } from '../operator/operator.js';
import * as schemas from '../operator/schemas/books.js';
import { spreadsheetLine } from '../platform/csv/csv-field.js';
import { areZero } from '../settlement/sums.js';
import { command, createCsvAnswer, operation } from './operation.js';
import { monthTable, settlementMonthText } from './texts/settlement-text.js';

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
      return createCsvAnswer(`settlement-${month}.csv`, monthAsCsv(shown));
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

const CSV_COLUMNS = [
  'month',
  'status',
  'appId',
  'channel',
  'part',
  'productCode',
  'settlementMode',
  'collectedCent',
  'collectedCount',
  'refundedCent',
  'refundedCount',
  'billedCent',
  'billedCount',
  'currency',
] as const;

/** Writes no totals, so that a column can be summed. `LATER` rows contain changes to earlier months that are closed. */
async function* monthAsCsv({ month, status, currency, channels }: SettlementMonth): AsyncGenerator<string> {
  yield spreadsheetLine(CSV_COLUMNS);
  for (const { appId, name: channel, products, later } of channels) {
    const rows = [
      ...products.map((product) => ({ ...product, part: 'MONTH' })),
      ...(areZero(later) ? [] : [{ ...later, part: 'LATER', productCode: '', settlementMode: '' }]),
    ];
    for (const row of rows) {
      const cells = { month, status, appId, channel, currency, ...row };
      yield spreadsheetLine(CSV_COLUMNS.map((column) => cells[column]));
    }
  }
}
