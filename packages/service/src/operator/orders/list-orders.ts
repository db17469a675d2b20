import { Rejection, type Static } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { orderStatuses } from '@perennial/wire/enums';
import { hasProduct } from '../../catalog/products/product-provisioning-sql.js';
import { spreadsheetLine } from '../../platform/csv/csv-field.js';
import type { Queryable } from '../../platform/db/database.js';
import { type ListQuestion, readCursor, writeCursor } from '../../platform/lists/cursor.js';
import { isNumberKey } from '../../platform/lists/list-page.js';
import { requireChannelId } from '../channel-id.js';
import { maskUserId } from '../masking.js';
import { type OperatorWithClock, refusal } from '../operator.js';
import { requirePageSize } from '../paging.js';
import type { Role } from '../people/roles.js';
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

/** As it is asked for: texts of an address. */
export type OrderFilterInput = Static<typeof orderFilter>;

/** Counting stops here. */
export const MAX_COUNTED = 10_000;
/** Orders that are looked at first. */
const FIRST_COUNTED = 50;
const ORDERS_PER_PIECE = 1_000;

/** How long somebody waits for a page and for totals, and a file for a piece of it. */
const PAGE_MS = 80;
const TOTALS_MS = 80;
const PIECE_MS = 1_500;
/** How long any statement of a list may take. */
const MAX_STATEMENT_MS = 3_000;

/**
 * A page of the orders that match, the newest first; or, when it is asked when they are due, the soonest first. When what is
 * asked for is so rare that a page of it cannot be found in a moment, the page has fewer orders and the list goes on.
 */
export async function listOrders(operator: OperatorWithClock, input: Static<typeof ordersQuery>, role: Role) {
  const { cursor, limit, ...asked } = input;
  const size = requirePageSize(limit);
  const filter = await readFilter(operator.database, asked);
  const question = questionOf(asked);
  const after = cursor === undefined ? undefined : readKey(cursor, question);
  const { found, next } = await readPage(operator, filter, after, size, PAGE_MS);
  return {
    orders: found.map((order) => describeOrder(order, role)),
    nextCursor: next === undefined ? null : writeCursor(question, next),
  };
}

/** How many match, counted up to MAX_COUNTED, and what was paid and given back for those. */
export async function totalOrders(operator: OperatorWithClock, input: OrderFilterInput) {
  const filter = await readFilter(operator.database, input);
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

/** Each line says what its amounts are in. */
const CSV_HEADER = [...CSV_COLUMNS, 'currency'];

/**
 * All orders that match as CSV, in pieces. Page by page, so that no transaction is open for as long as it takes; what is
 * asked for is checked before the first piece.
 */
export async function exportOrders(
  operator: OperatorWithClock,
  input: OrderFilterInput,
  role: Role,
): Promise<AsyncIterable<string>> {
  const filter = await readFilter(operator.database, input);
  const { currency = DEFAULT_CURRENCY } = operator;
  return (async function* pieces() {
    yield spreadsheetLine(CSV_HEADER);
    let after: OrderListKey | undefined;
    do {
      const { found, next } = await readPage(operator, filter, after, ORDERS_PER_PIECE, PIECE_MS);
      const lines = found.map((order) => describeOrder(order, role));
      if (lines.length > 0)
        yield lines.map((line) => spreadsheetLine([...CSV_COLUMNS.map((column) => line[column]), currency])).join('');
      after = next;
    } while (after !== undefined);
  })();
}

/** `next` is where the next page begins. Undefined when this is the last one. */
async function readPage(
  operator: OperatorWithClock,
  filter: OrderFilter,
  after: OrderListKey | undefined,
  size: number,
  waitMs: number,
) {
  const found: ListedOrder[] = [];
  // One more than asked tells whether there is another page.
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

async function readFilter(db: Queryable, input: OrderFilterInput): Promise<OrderFilter> {
  // All orders would be looked at for one of a product that there is not.
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
    unsettled: input.unsettled === 'true',
    channelUserId: input.channelUserId,
  };
}

/** A cursor belongs to one filter: with another it would leave orders out. */
const questionOf = (asked: OrderFilterInput): ListQuestion => ({
  endpoint: 'console/orders',
  channelId: 0,
  filter: Object.fromEntries(Object.entries(asked).toSorted(([one], [other]) => (one < other ? -1 : 1))),
});

function readKey(cursor: string, question: ListQuestion): OrderListKey {
  try {
    return readCursor(cursor, question, isNumberKey(2));
  } catch (error) {
    throw error instanceof Rejection ? refusal('cursor-of-another-list')`the cursor was given for another list` : error;
  }
}

export function describeOrder(order: ListedOrder, role: Role): Static<typeof orderLine> {
  const { cycleNo, latestPaymentStatus } = order;
  const channelUserId = maskUserId(order.channelUserId, role);
  return { ...describeFields(order), channelUserId, cycleNo, latestPaymentStatus };
}
