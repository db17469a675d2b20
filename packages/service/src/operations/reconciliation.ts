import { Type } from '@perennial/wire';
import {
  closeDifference,
  exportDifferences,
  listDifferences,
  listReconciliations,
  pageDifferences,
  pageReconciliations,
  runReconciliation,
  setDifferenceOwner,
  withOrderOfDifference,
} from '../operator/books/reconciliation.js';
import type { Changed, Operator } from '../operator/operator.js';
import * as schemas from '../operator/schemas/books.js';
import type { DifferenceView } from '../reconciliation/differences-sql.js';
import { MAX_UPLOAD_BYTES, readFileInPieces, toBytes } from './command/files.js';
import { type Context, command, createCsvAnswer, datedName, operation } from './operation.js';
import { dayTable, differenceTable, reconciliationText } from './texts/reconciliation-text.js';

const listFilter = { paymentChannelCode: Type.Optional(Type.String()), limit: Type.Optional(Type.Integer()) };

export const reconciliationOperations = [
  operation({
    method: 'GET',
    path: '/reconciliations',
    summary: 'Days reconciled with an institution’s statement, latest first',
    query: schemas.reconciliationsQuery,
    answer: schemas.reconciliations,
    run: pageReconciliations,
    toAnswer: ({ rows: reconciliations, nextCursor }) => ({ reconciliations, nextCursor }),
  }),
  command({
    usage: 'reconciliation list',
    summary: 'reconciled days, latest first',
    examples: ['list', 'list --payment-channel UNIPAY'],
    body: Type.Object(listFilter),
    fields: {
      paymentChannelCode: ['--payment-channel <code>', 'only this payment channel'],
      limit: ['--limit <n>', 'at most this many, 1 to 1000 (default: 50)'],
    },
    run: listReconciliations,
    text: dayTable,
  }),
  operation({
    method: 'POST',
    path: '/reconciliations',
    role: 'finance',
    summary: 'Reconcile a day with a statement from a file or the bridge; can be repeated',
    maxBodyBytes: MAX_UPLOAD_BYTES,
    body: schemas.reconcileRequest,
    answer: schemas.reconciliation,
    run: (operator, { csv, ...input }) =>
      runReconciliation(operator, { ...input, ...(csv === undefined ? {} : { csv: toBytes(csv) }) }),
    command: {
      usage: 'reconciliation run',
      examples: [
        'run --payment-channel UNIPAY --day 2026-01-31',
        'run --payment-channel UNIPAY --day 2026-01-31 --csv statement.csv',
      ],
      fields: {
        paymentChannelCode: ['--payment-channel <code>', 'payment channel of the statement'],
        day: ['--day <day>', 'a past day in Asia/Shanghai, such as 2026-01-31'],
        csv: [
          '--csv <file>',
          'the statement file (default: requested from the bridge)',
          readFileInPieces('the statement'),
        ],
      },
      text: reconciliationText,
    },
  }),
  operation({
    method: 'GET',
    path: '/differences',
    summary: 'Differences from statements, latest day first',
    query: schemas.differencesQuery,
    answer: schemas.differences,
    run: pageDifferences,
    toAnswer: ({ rows: differences, nextCursor }) => ({ differences, nextCursor }),
  }),
  operation({
    method: 'GET',
    path: '/differences.csv',
    summary: 'All matching differences as CSV',
    query: schemas.differenceFilter,
    answer: schemas.differences,
    run: async (operator, input, { person }) =>
      createCsvAnswer(datedName(operator, 'differences'), exportDifferences(operator, input, person.role)),
  }),
  command({
    usage: 'reconciliation differences',
    summary: 'open differences from statements, latest day first',
    examples: ['differences', 'differences --payment-channel UNIPAY --day 2026-01-31 --all --json'],
    body: Type.Object({ all: Type.Optional(Type.Boolean()), day: Type.Optional(Type.String()), ...listFilter }),
    fields: {
      all: ['--all', 'include closed differences'],
      paymentChannelCode: ['--payment-channel <code>', 'only this payment channel'],
      day: ['--day <day>', 'only this day, such as 2026-01-31'],
      limit: ['--limit <n>', 'at most this many, 1 to 10000 (default: 100)'],
    },
    run: listDifferences,
    text: differenceTable,
  }),
  operation({
    method: 'POST',
    path: '/differences/{differenceNo}/close',
    role: 'finance',
    summary: 'Close a difference, with a note of its cause and fix',
    body: schemas.closeRequest,
    answer: schemas.differenceChanged,
    run: closeDifference,
    toAnswer: toDifferenceChanged,
    command: {
      usage: 'reconciliation close <difference-no>',
      examples: ['close 17 --note "refunded at the counter, ticket 4711"'],
      fields: { note: ['--note <text>', 'cause and fix'] },
      text: ({ differenceNo, changed, closedBy }) =>
        changed
          ? `difference ${differenceNo} is closed`
          : `difference ${differenceNo} was already closed by ${closedBy}`,
    },
  }),
  operation({
    method: 'PUT',
    path: '/differences/{differenceNo}/owner',
    role: ['finance', 'support'],
    summary: 'Assign a difference to an operator',
    body: schemas.differenceOwnerRequest,
    answer: schemas.differenceChanged,
    run: setDifferenceOwner,
    toAnswer: toDifferenceChanged,
  }),
];

async function toDifferenceChanged(
  { changed, ...difference }: Changed<DifferenceView>,
  _: Context,
  operator: Operator,
) {
  return { difference: await withOrderOfDifference(operator, difference), changed };
}
