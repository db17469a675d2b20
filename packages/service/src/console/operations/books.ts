import {
  closeDifference,
  pageDifferences,
  pageReconciliations,
  runReconciliation,
  setDifferenceOwner,
  withOrderOfDifference,
} from '../../operator/books/reconciliation.js';
import {
  closeSettlementMonth,
  listSettlementMonths,
  type SettlementMonth,
  showSettlementMonth,
} from '../../operator/books/settlement-months.js';
import { refusal } from '../../operator/operator.js';
import { spreadsheetLine } from '../../platform/csv/csv-field.js';
import { createCsvAnswer, type Operation, operation } from '../operation.js';
import { readPageQuery } from '../page-query.js';
import * as schemas from '../schemas/books.js';

/** A statement of 20 MB as JSON. */
const MAX_STATEMENT_BYTES = 25_000_000;

export const booksOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/reconciliations',
    role: 'viewer',
    summary: 'Days that were compared with an institution’s statement, the latest first',
    query: schemas.reconciliationsQuery,
    answer: schemas.reconciliations,
    async run({ operator }, { query: { paymentChannelCode }, query }) {
      const { rows, nextCursor } = await pageReconciliations(operator, { paymentChannelCode, ...readPageQuery(query) });
      return { reconciliations: rows, nextCursor };
    },
  }),
  operation({
    method: 'POST',
    path: '/reconciliations',
    role: 'finance',
    summary: 'Compare a day with a statement, of a file or of the bridge; may be repeated',
    maxBodyBytes: MAX_STATEMENT_BYTES,
    body: schemas.reconcileRequest,
    answer: schemas.reconciliation,
    run: ({ operator }, { body: { csv, ...body } }) =>
      runReconciliation(operator, { ...body, ...(csv === undefined ? {} : { csv: toBytes(csv) }) }),
  }),
  operation({
    method: 'GET',
    path: '/differences',
    role: 'viewer',
    summary: 'What does not agree with a statement, the latest day first',
    query: schemas.differencesQuery,
    answer: schemas.differences,
    async run({ operator }, { query: { cursor: _1, limit: _2, ...filter }, query }) {
      const { rows, nextCursor } = await pageDifferences(operator, { ...filter, ...readPageQuery(query) });
      return { differences: rows, nextCursor };
    },
  }),
  operation({
    method: 'POST',
    path: '/differences/{differenceNo}/close',
    role: 'finance',
    summary: 'Say that a difference is dealt with, and how',
    body: schemas.closeRequest,
    answer: schemas.differenceChanged,
    async run({ operator }, { path: { differenceNo = '' }, body: { note } }) {
      const { changed, ...difference } = await closeDifference(operator, { differenceNo, note });
      return { difference: await withOrderOfDifference(operator, difference), changed };
    },
  }),
  operation({
    method: 'PUT',
    path: '/differences/{differenceNo}/owner',
    role: ['finance', 'support'],
    summary: 'Say who looks into a difference',
    body: schemas.differenceOwnerRequest,
    answer: schemas.differenceChanged,
    async run({ operator }, { path: { differenceNo = '' }, body: { owner } }) {
      const { changed, ...difference } = await setDifferenceOwner(operator, { differenceNo, owner });
      return { difference: await withOrderOfDifference(operator, difference), changed };
    },
  }),
  operation({
    method: 'GET',
    path: '/settlement',
    role: 'viewer',
    summary: 'The months and whether they are closed, the latest first',
    answer: schemas.settlementMonths,
    run: async ({ operator }) => ({ months: await listSettlementMonths(operator) }),
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}',
    role: 'viewer',
    summary: 'All channels of a month; of a closed one as it was then',
    answer: schemas.settlementMonth,
    run: ({ operator }, { path: { month = '' } }) => showSettlementMonth(operator, { month }),
  }),
  operation({
    method: 'GET',
    path: '/settlement/{month}/csv',
    role: 'viewer',
    summary: 'The same as a file',
    answer: schemas.settlementMonth,
    async run({ operator }, { path: { month = '' } }) {
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
    async run({ operator }, { path: { month = '' }, body: { confirmation, note } }) {
      if (confirmation !== month) throw refusal('month-not-typed')`to close ${month}, type ${month}`;
      return closeSettlementMonth(operator, { month, note });
    },
  }),
];

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

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
];

/** Without totals, so that a column can be summed. `LATER` is what stands here of months that were closed before. */
async function* monthAsCsv({ month, status, currency, channels }: SettlementMonth): AsyncGenerator<string> {
  yield spreadsheetLine(CSV_COLUMNS);
  for (const { appId, name, products, later } of channels) {
    const rows = [
      ...products.map((product) => ({ ...product, part: 'MONTH' })),
      ...(Object.values(later).some((sum) => sum !== 0)
        ? [{ ...later, part: 'LATER', productCode: '', settlementMode: '' }]
        : []),
    ];
    for (const row of rows) {
      yield spreadsheetLine([
        month,
        status,
        appId,
        name,
        row.part,
        row.productCode,
        row.settlementMode,
        row.collectedCent,
        row.collectedCount,
        row.refundedCent,
        row.refundedCount,
        row.billedCent,
        row.billedCount,
        currency,
      ]);
    }
  }
}
