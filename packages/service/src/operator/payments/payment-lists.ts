import type { Static } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { hasProduct } from '../../catalog/products/product-provisioning-sql.js';
import { createCsvTable } from '../../platform/csv/csv-field.js';
import type { Queryable } from '../../platform/db/database.js';
import {
  formatAttemptNo,
  formatPaymentOrderNo,
  parseAttemptNo,
} from '../../subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo, parseRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { recordAudit } from '../audit/audit.js';
import { traceRead } from '../audit/trace-read.js';
import { requireChannelId } from '../channel-id.js';
import { maskTexts } from '../masking.js';
import { inTransaction, type OperatorWithClock } from '../operator.js';
import { LONG_LIST_MS, MAX_COUNTED, readList, readPage, readPieces } from '../paging.js';
import type { Role } from '../people/roles.js';
import { createNotFound, parseMoment, requireOneOf } from '../rules.js';
import {
  type askRequest,
  type debitFilter,
  debitLine,
  type debitsQuery,
  refundLine,
  type refundsQuery,
} from '../schemas/payments.js';
import {
  type AskedNow,
  askNow,
  LISTED_STATUSES,
  type Listed,
  type ListedFilter,
  type ListedKey,
  type ListedMoney,
  readListed,
  sumListed,
} from './payment-lists-sql.js';

type FilterInput = Static<typeof debitFilter>;

/** The number of rows that one statement of an export reads. */
const ROWS_PER_PIECE = 1_000;
/** The maximum number of queries that one request brings forward. */
const MAX_ASKED = 1_000;

/** Returns a page of the debits, latest first. */
export async function listDebits(operator: OperatorWithClock, input: Static<typeof debitsQuery>) {
  const { rows, nextCursor } = await listPage(operator, 'debits', input);
  return { payments: rows.map(describeDebit), nextCursor };
}

/** Like `listDebits`, for refunds. */
export async function listRefunds(operator: OperatorWithClock, input: Static<typeof refundsQuery>) {
  const { rows, nextCursor } = await listPage(operator, 'refunds', input);
  return { refunds: rows.map(describeRefund), nextCursor };
}

export const totalDebits = (operator: OperatorWithClock, input: FilterInput) => total(operator, 'debits', input);
export const totalRefunds = (operator: OperatorWithClock, input: FilterInput) => total(operator, 'refunds', input);

export const exportDebits = (operator: OperatorWithClock, input: FilterInput, role: Role) =>
  exportListed(operator, 'debits', input, role, Object.keys(debitLine.properties), describeDebit);
export const exportRefunds = (operator: OperatorWithClock, input: FilterInput, role: Role) =>
  exportListed(operator, 'refunds', input, role, Object.keys(refundLine.properties), describeRefund);

export const askAboutDebits = (operator: OperatorWithClock, input: Static<typeof askRequest>) =>
  ask(operator, 'debits', input);
export const askAboutRefunds = (operator: OperatorWithClock, input: Static<typeof askRequest>) =>
  ask(operator, 'refunds', input);

async function listPage(
  operator: OperatorWithClock,
  listed: Listed,
  { cursor, limit, ...asked }: Static<typeof debitsQuery>,
) {
  const filter = await readFilter(operator.database, asked);
  return readPage<ListedMoney, ListedKey>(
    listed,
    { cursor, limit },
    [0, 0, 0, 0],
    (after, rows) => readList(operator.database, (db) => readListed(db, listed, filter, after, rows)),
    keyOf,
  );
}

const keyOf = ({ micros, orderNo, cycleNo, seq }: ListedMoney): ListedKey => [micros, orderNo, cycleNo, seq];

/** Counts the matching rows up to MAX_COUNTED, and adds up their amounts. */
async function total({ database }: OperatorWithClock, listed: Listed, input: FilterInput) {
  const filter = await readFilter(database, input);
  return readList(database, (db) => sumListed(db, listed, filter, MAX_COUNTED));
}

/** Exports all matching rows as CSV, page by page, so that no transaction is open for long. */
async function exportListed(
  operator: OperatorWithClock,
  listed: Listed,
  input: FilterInput,
  role: Role,
  columns: readonly string[],
  describe: (row: ListedMoney) => Readonly<Record<string, string | number | null>>,
): Promise<AsyncIterable<string>> {
  const filter = await readFilter(operator.database, input);
  await traceRead(operator, `${listed}.export`, listed, JSON.stringify(input), input);
  const { currency = DEFAULT_CURRENCY } = operator;
  const table = createCsvTable([...columns, 'currency']);
  const toLine = (row: ListedMoney) => {
    const line = maskTexts(describe(row), role);
    return table.toRow({ ...line, currency });
  };
  return (async function* pieces() {
    yield table.header;
    const read = (after: ListedKey | undefined) =>
      readList(operator.database, (db) => readListed(db, listed, filter, after, ROWS_PER_PIECE), LONG_LIST_MS);
    for await (const rows of readPieces(read, keyOf, ROWS_PER_PIECE)) yield rows.map(toLine).join('');
  })();
}

/**
 * Brings forward the next queries about debits or refunds without a final result: of one, or of all that match. A
 * running engine then queries the institution immediately.
 */
async function ask(
  operator: OperatorWithClock,
  listed: Listed,
  { number, ...input }: Static<typeof askRequest>,
): Promise<AskedNow> {
  const { actor } = operator;
  const filter = await readFilter(operator.database, input);
  const key = number === undefined ? undefined : parseNumber(listed, number);
  return inTransaction(operator, async (tx) => {
    const answer = await askNow(tx, listed, { ...filter, ...(key && { key }) }, MAX_ASKED);
    if (answer.asked > 0) {
      const subject = key === undefined ? listed : String(key[0]);
      const detail = { number, cycleNo: key?.[1], ...(key === undefined ? { filter: input, ...answer } : {}) };
      await recordAudit(tx, { actor, action: `${listed}.ask`, subject, detail });
    }
    return answer;
  });
}

function parseNumber(listed: Listed, number: string) {
  const attempt = listed === 'debits' ? parseAttemptNo(number) : undefined;
  if (attempt) return [attempt.orderNo, attempt.cycleNo, attempt.tryNo] as const;
  const refund = listed === 'refunds' ? parseRefundNo(number) : undefined;
  if (refund) return [refund.orderNo, refund.cycleNo, refund.refundSeq] as const;
  throw createNotFound(listed === 'debits' ? 'debit' : 'refund', number);
}

async function readFilter(db: Queryable, input: FilterInput): Promise<ListedFilter> {
  const { status, appId, productCode, paymentChannelCode, from, to, amountFrom, amountTo, tryNo } = input;
  // Refuses an unknown product first, because the search for its debits would read all of them.
  if (productCode !== undefined && !(await hasProduct(db, productCode))) throw createNotFound('product', productCode);
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  return {
    status: status && requireOneOf('a status', status, LISTED_STATUSES),
    channelId: appId === undefined ? undefined : await requireChannelId(db, appId),
    productCode,
    paymentChannelCode,
    from: parseMoment(from),
    to: parseMoment(to),
    amountFrom: number(amountFrom),
    amountTo: number(amountTo),
    tryNo: number(tryNo),
  };
}

/** The fields that debits and refunds have in common, in the order of the file's columns. */
const describeCommon = (row: ListedMoney) => ({
  orderNo: String(row.orderNo),
  externalOrderNo: row.externalOrderNo,
  cycleNo: row.cycleNo,
  paymentOrderNo: formatPaymentOrderNo(row.orderNo, row.cycleNo),
  appId: row.appId,
  productCode: row.productCode,
  paymentChannelCode: row.paymentChannelCode,
  status: row.status,
  paymentStatus: row.paymentStatus,
  amountCent: row.amountCent,
  reason: row.reason,
  startedAt: row.startedAt,
  settledAt: row.settledAt,
  askAt: row.askAt,
});

function describeDebit(row: ListedMoney): Static<typeof debitLine> {
  const { orderNo, cycleNo, seq: tryNo, doneAt: paidAt, institutionRef } = row;
  return { attemptNo: formatAttemptNo(orderNo, cycleNo, tryNo), ...describeCommon(row), tryNo, paidAt, institutionRef };
}

function describeRefund(row: ListedMoney): Static<typeof refundLine> {
  const { orderNo, cycleNo, seq: refundSeq, doneAt: refundedAt, requestedBy, institutionRef } = row;
  return {
    refundNo: formatRefundNo({ orderNo, cycleNo, refundSeq }),
    ...describeCommon(row),
    refundedAt,
    requestedBy: requestedBy ?? '',
    institutionRef,
  };
}
