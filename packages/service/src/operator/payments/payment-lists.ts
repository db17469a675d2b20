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
import { readCursor, requirePageSize, writeCursor } from '../paging.js';
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
import { walkInStretches } from '../walk.js';
import {
  type AskedNow,
  askNow,
  LISTED_STATUSES,
  type Listed,
  type ListedFilter,
  type ListedKey,
  type ListedMoney,
  type ListedSums,
  type ListedWalk,
  readListed,
  sumListed,
} from './payment-lists-sql.js';

type FilterInput = Static<typeof debitFilter>;

/** Counting stops here. */
const MAX_COUNTED = 10_000;
const ROWS_PER_PIECE = 1_000;
/** The length of the first stretch in minutes. A large installation has some thousand debits in this time. */
const FIRST_MINUTES = 10;
/** The number of rows without a result that the first statement of a count reads. */
const FIRST_ROWS = 1_000;
/** Time limits of a page, of the totals, of a piece of an exported file, and of each statement. */
const PAGE_MS = 80;
const TOTALS_MS = 80;
const PIECE_MS = 1_500;
const MAX_STATEMENT_MS = 3_000;
/** The maximum number of queries that one request brings forward. */
const MAX_ASKED = 1_000;

/** Returns a page of the debits, latest first. A page with rare matches may be short, and has a cursor to continue. */
export async function listDebits(operator: OperatorWithClock, input: Static<typeof debitsQuery>) {
  const { found, nextCursor } = await listPage(operator, 'debits', input);
  return { payments: found.map(describeDebit), nextCursor };
}

/** Like `listDebits`, for refunds. */
export async function listRefunds(operator: OperatorWithClock, input: Static<typeof refundsQuery>) {
  const { found, nextCursor } = await listPage(operator, 'refunds', input);
  return { refunds: found.map(describeRefund), nextCursor };
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
  const size = requirePageSize(limit);
  const filter = await readFilter(operator.database, asked);
  const after = cursor === undefined ? undefined : readCursor<ListedKey>(listed, cursor, [0, 0, 0, 0]);
  const { found, next } = await readPage(operator, listed, filter, after, size, PAGE_MS);
  return { found, nextCursor: next === undefined ? null : writeCursor(listed, next) };
}

/** Counts the matching rows up to MAX_COUNTED, and adds up their amounts. */
async function total(operator: OperatorWithClock, listed: Listed, input: FilterInput) {
  const filter = await readFilter(operator.database, input);
  let sums: ListedSums = { count: 0, amountCent: 0 };
  let isComplete = false;
  const stretches = walkListed(operator, filter, { waitMs: TOTALS_MS }, (db, walk) =>
    sumListed(db, listed, filter, { ...walk, limit: MAX_COUNTED - sums.count }),
  );
  for await (const { found, isLast } of stretches) {
    sums = { count: sums.count + found.count, amountCent: sums.amountCent + found.amountCent };
    if (sums.count === MAX_COUNTED) break;
    isComplete = isLast;
  }
  return { ...sums, isAtLeast: !isComplete };
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
    let after: ListedKey | undefined;
    do {
      const { found, next } = await readPage(operator, listed, filter, after, ROWS_PER_PIECE, PIECE_MS);
      if (found.length > 0) yield found.map(toLine).join('');
      after = next;
    } while (after !== undefined);
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

/** Reads a page. `next` is the key after which the next page begins. Undefined on the last page. */
async function readPage(
  operator: OperatorWithClock,
  listed: Listed,
  filter: ListedFilter,
  after: ListedKey | undefined,
  size: number,
  waitMs: number,
) {
  const found: ListedMoney[] = [];
  let place = after;
  // Reads one row more than requested, to detect a next page.
  const stretches = walkListed(operator, filter, { after, waitMs, size }, (db, walk) =>
    readListed(db, listed, filter, { ...walk, limit: size + 1 - found.length }),
  );
  for await (const stretch of stretches) {
    found.push(...stretch.found);
    if (found.length > size) return { found: found.slice(0, size), next: keyOf(found[size - 1]) };
    if (stretch.isLast) return { found, next: undefined };
    place = stretch.last;
  }
  return { found, next: place };
}

const keyOf = (row: ListedMoney | undefined): ListedKey | undefined =>
  row && [row.micros, row.orderNo, row.cycleNo, row.seq];

async function* walkListed<One extends { readonly walked: number; readonly last: ListedKey | undefined }>(
  { database, clock }: OperatorWithClock,
  { status }: ListedFilter,
  {
    after,
    waitMs,
    size = FIRST_ROWS,
  }: { readonly after?: ListedKey | undefined; readonly waitMs: number; readonly size?: number },
  read: (db: Queryable, walk: Omit<ListedWalk, 'limit'>) => Promise<One>,
): AsyncGenerator<One & { readonly isLast: boolean }> {
  let place = after;
  const first = status === 'STARTED' ? size + 1 : FIRST_MINUTES;
  for await (const stretch of walkInStretches({ clock, first, waitMs }, (length) =>
    database.transaction((tx) => read(tx, { after: place, length }), {
      statementMs: MAX_STATEMENT_MS,
      readOnly: true,
    }),
  )) {
    yield stretch;
    place = stretch.last;
  }
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
