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
import { LONG_LIST_MS, MAX_COUNTED, readList, readPieces, requirePageSize } from '../paging.js';
import { NotAllowedError } from '../people/not-allowed.js';
import { mayDo, ROLES_FOR_USERS, type Role } from '../people/roles.js';
import { createNotFound, parseMoment, requireOneOf } from '../rules.js';
import { type orderFilter, orderLine, type ordersQuery } from '../schemas/orders.js';
import { type ListedOrder, type OrderFilter, type OrderListKey, readOrders, sumOrders } from './order-list-sql.js';
import { describeFields } from './show-order.js';

/** The fields of the filter as texts, as in a URL. */
export type OrderFilterInput = Static<typeof orderFilter>;

/** The number of orders that one statement of an export reads. */
const ORDERS_PER_PIECE = 1_000;

/** Returns a page of matching orders, newest first, or soonest first if the filter has a due time. */
export async function listOrders(operator: OperatorWithClock, input: Static<typeof ordersQuery>, role: Role) {
  const { cursor, limit, ...asked } = input;
  const size = requirePageSize(limit);
  const filter = await readFilter(operator.database, asked, role);
  const question = questionOf(asked);
  const after = cursor === undefined ? undefined : readKey(cursor, question);
  // Reads one order more than requested, to detect a next page.
  const found = await readList(operator.database, (db) => readOrders(db, filter, after, size + 1));
  const shown = found.slice(0, size);
  const last = shown.at(-1);
  return {
    orders: shown.map((order) => describeOrder(order, role)),
    nextCursor: found.length > size && last ? writeCursor(question, keyOf(last)) : null,
  };
}

const keyOf = ({ listMicros, orderNo }: ListedOrder): OrderListKey => [listMicros, orderNo];

/** Returns up to `limit` matching orders, which an action is to process. */
export async function findMatchingOrders(operator: OperatorWithClock, input: OrderFilterInput, limit: number) {
  const filter = await readFilter(operator.database, input, 'admin');
  return readList(operator.database, (db) => readOrders(db, filter, undefined, limit), LONG_LIST_MS);
}

/** Counts the matching orders up to MAX_COUNTED, and sums their payments and refunds. */
export async function totalOrders(operator: OperatorWithClock, input: OrderFilterInput, role: Role) {
  const filter = await readFilter(operator.database, input, role);
  return readList(operator.database, (db) => sumOrders(db, filter, MAX_COUNTED));
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
    const read = (after: OrderListKey | undefined) =>
      readList(operator.database, (db) => readOrders(db, filter, after, ORDERS_PER_PIECE), LONG_LIST_MS);
    for await (const orders of readPieces(read, keyOf, ORDERS_PER_PIECE)) {
      const lines = orders.map((order) => maskTexts(describeOrder(order, role), role));
      yield lines.map((line) => CSV.toRow({ ...line, currency })).join('');
    }
  })();
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
