import { Rejection, type Static } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { orderStatuses } from '@perennial/wire/enums';
import { hasProduct } from '../../catalog/products/product-provisioning-sql.js';
import { createCsvTable } from '../../platform/csv/csv-field.js';
import type { Queryable } from '../../platform/db/database.js';
import { type ListQuestion, readCursor, writeCursor } from '../../platform/lists/cursor.js';
import { isNumberKey } from '../../platform/lists/list-page.js';
import { traceRead } from '../audit/trace-read.js';
import { requireChannelId } from '../channel-id.js';
import { maskTexts, maskUserId } from '../masking.js';
import { type OperatorWithClock, refusal } from '../operator.js';
import { requirePageSize } from '../paging.js';
import { NotAllowedError } from '../people/not-allowed.js';
import { mayDo, ROLES_FOR_USERS, type Role } from '../people/roles.js';
import { createNotFound, parseMoment, requireOneOf } from '../rules.js';
import { type orderFilter, orderLine, type ordersQuery } from '../schemas/orders.js';
import { walkInStretches } from '../walk.js';
import {
  type ListedOrder,
  type OrderFilter,
  type OrderListKey,
  type OrderStretch,
  type OrderSums,
  readOrders,
  sumOrders,
  type Walk,
} from './order-list-sql.js';
import { describeFields } from './show-order.js';

/** The fields of the filter as texts, as in a URL. */
export type OrderFilterInput = Static<typeof orderFilter>;

/** Counting stops here. */
export const MAX_COUNTED = 10_000;
/** The number of orders that the first statement of a count reads. */
const FIRST_COUNTED = 50;
const ORDERS_PER_PIECE = 1_000;

/** Time limit of a page. */
const PAGE_MS = 80;
/** Time limit of the totals. */
const TOTALS_MS = 80;
/** Time limit of one piece of an exported file. */
const PIECE_MS = 1_500;
/** Time limit of each statement that reads a list. */
const MAX_STATEMENT_MS = 3_000;

/**
 * Returns a page of matching orders, newest first, or soonest first if the filter has a due time. If matches are rare,
 * the page has fewer orders than requested and a cursor to continue.
 */
export async function listOrders(operator: OperatorWithClock, input: Static<typeof ordersQuery>, role: Role) {
  const { cursor, limit, ...asked } = input;
  const size = requirePageSize(limit);
  const filter = await readFilter(operator.database, asked, role);
  const question = questionOf(asked);
  const after = cursor === undefined ? undefined : readKey(cursor, question);
  const { found, next } = await readPage(operator, filter, after, size, PAGE_MS);
  return {
    orders: found.map((order) => describeOrder(order, role)),
    nextCursor: next === undefined ? null : writeCursor(question, next),
  };
}

/** Counts the matching orders up to MAX_COUNTED, and sums their payments and refunds. */
export async function totalOrders(operator: OperatorWithClock, input: OrderFilterInput, role: Role) {
  const filter = await readFilter(operator.database, input, role);
  let sums: OrderSums = { count: 0, totalPaidAmountCent: 0, totalRefundAmountCent: 0 };
  let isComplete = false;
  const stretches = walkOrders(operator, { first: FIRST_COUNTED, waitMs: TOTALS_MS }, (db, walk) =>
    sumOrders(db, filter, walk, MAX_COUNTED - sums.count),
  );
  for await (const { found, isLast } of stretches) {
    sums = {
      count: sums.count + found.count,
      totalPaidAmountCent: sums.totalPaidAmountCent + found.totalPaidAmountCent,
      totalRefundAmountCent: sums.totalRefundAmountCent + found.totalRefundAmountCent,
    };
    if (sums.count === MAX_COUNTED) break;
    isComplete = isLast;
  }
  return { ...sums, isAtLeast: !isComplete };
}

const CSV_COLUMNS = Object.keys(orderLine.properties) as (keyof typeof orderLine.properties)[];

/** The currency is a column, so that every line names it. */
const CSV = createCsvTable([...CSV_COLUMNS, 'currency']);

/**
 * Exports all matching orders as CSV, page by page, so that no transaction is open for long. Checks the filter first.
 */
export async function exportOrders(
  operator: OperatorWithClock,
  input: OrderFilterInput,
  role: Role,
): Promise<AsyncIterable<string>> {
  const filter = await readFilter(operator.database, input, role);
  const { channelUserId: _, ...shown } = input;
  await traceRead(operator, 'orders.export', 'orders', JSON.stringify(input), shown);
  const { currency = DEFAULT_CURRENCY } = operator;
  return (async function* pieces() {
    yield CSV.header;
    let after: OrderListKey | undefined;
    do {
      const { found, next } = await readPage(operator, filter, after, ORDERS_PER_PIECE, PIECE_MS);
      const lines = found.map((order) => maskTexts(describeOrder(order, role), role));
      if (lines.length > 0) yield lines.map((line) => CSV.toRow({ ...line, currency })).join('');
      after = next;
    } while (after !== undefined);
  })();
}

/** Reads a page. `next` is the key after which the next page begins. Undefined on the last page. */
async function readPage(
  operator: OperatorWithClock,
  filter: OrderFilter,
  after: OrderListKey | undefined,
  size: number,
  waitMs: number,
) {
  const found: ListedOrder[] = [];
  // Reads one order more than requested, to detect a next page.
  const stretches = walkOrders(operator, { after, first: size + 1, waitMs }, (db, walk) =>
    readOrders(db, filter, walk, size + 1 - found.length),
  );
  for await (const stretch of stretches) {
    found.push(...stretch.found);
    if (found.length > size) return { found: found.slice(0, size), next: found[size - 1]?.key };
    if (stretch.isLast) return { found, next: undefined };
    after = stretch.last;
  }
  return { found, next: after };
}

async function* walkOrders<Found>(
  { database, clock }: OperatorWithClock,
  { after, ...options }: { readonly after?: OrderListKey | undefined; readonly first: number; readonly waitMs: number },
  read: (db: Queryable, walk: Walk) => Promise<OrderStretch<Found>>,
): AsyncGenerator<OrderStretch<Found> & { readonly isLast: boolean }> {
  let place = after;
  const stretches = walkInStretches({ clock, ...options }, (orders) =>
    database.transaction((tx) => read(tx, { after: place, orders }), {
      statementMs: MAX_STATEMENT_MS,
      readOnly: true,
    }),
  );
  for await (const stretch of stretches) {
    yield stretch;
    place = stretch.last;
  }
}

async function readFilter(db: Queryable, input: OrderFilterInput, role: Role): Promise<OrderFilter> {
  if (input.channelUserId !== undefined && !mayDo(role, ROLES_FOR_USERS))
    throw refusal('role-sees-users', NotAllowedError)`your role may not look for a user by id`;
  // Refuses an unknown product first, because the search for its orders would scan all orders.
  if (input.productCode !== undefined && !(await hasProduct(db, input.productCode))) {
    throw createNotFound('product', input.productCode);
  }
  const statuses = input.status?.split(',').map((one) => requireOneOf('a status', one.trim(), orderStatuses));
  return {
    statuses: statuses && [...new Set(statuses)],
    channelId: input.appId === undefined ? undefined : await requireChannelId(db, input.appId),
    productCode: input.productCode,
    settlementMode: input.settlementMode,
    createdFrom: parseMoment(input.createdFrom),
    createdTo: parseMoment(input.createdTo),
    dueFrom: parseMoment(input.dueFrom),
    dueTo: parseMoment(input.dueTo),
    failed: input.failed === undefined ? undefined : input.failed === 'true',
    channelUserId: input.channelUserId,
  };
}

/** The filter that a cursor belongs to. With a different filter the cursor would skip orders. */
const questionOf = (asked: OrderFilterInput): ListQuestion => ({
  endpoint: 'console/orders',
  channelId: 0,
  filter: Object.fromEntries(Object.entries(asked).toSorted(([one], [other]) => (one < other ? -1 : 1))),
});

function readKey(cursor: string, question: ListQuestion): OrderListKey {
  try {
    return readCursor(cursor, question, isNumberKey(2));
  } catch (error) {
    throw error instanceof Rejection
      ? refusal('cursor-of-another-list')`the cursor belongs to another list; start at the first page`
      : error;
  }
}

export function describeOrder(order: ListedOrder, role: Role): Static<typeof orderLine> {
  const { cycleNo, latestPaymentStatus } = order;
  const channelUserId = maskUserId(order.channelUserId, role);
  return { ...describeFields(order), channelUserId, cycleNo, latestPaymentStatus };
}
