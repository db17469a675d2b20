import { IDEMPOTENCY_WINDOW_MS, Rejection } from '@perennial/wire';
import {
  type Database,
  HeldUp,
  isDatabaseAway,
  isTimeout,
  NumberTaken,
  sqlState,
  violatedConstraint,
} from '../../platform/db/database.js';
import { moveLaggingSequences } from '../../platform/db/sequences.js';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import type { Caller } from '../../platform/db/sharing/caller.js';
import { KeyTaken } from '../../platform/idempotency/run-once.js';
import { NumberOfAnotherChannel } from '../../subscriptions/steps/agreements/shared-agreement.js';
import {
  deleteExpiredKey,
  insertOrders,
  type NewOrderRefusal,
  type NewOrderRow,
} from '../../subscriptions/store/orders/new-orders-sql.js';

export type StoreOrder = (row: NewOrderRow, caller: Caller) => Promise<void>;

type StoreVerdict = NewOrderRefusal | 'KEY_TAKEN' | Error | undefined;

/** Primary keys that contain an order number, except the primary key of the table `orders`. */
const CONSTRAINTS_OF_ORDER_NUMBER = /^(payments|debit_attempts|benefits)_pkey$/;

const IDEMPOTENCY_DAYS = IDEMPOTENCY_WINDOW_MS / 86_400_000;

/**
 * The maximum number of timeouts per channel while the orders of a batch are stored one by one. At this limit, the
 * channel's remaining orders in the batch are not attempted.
 */
const MAX_OUT_OF_TIME = 1;

/**
 * Stores a new order in one batch with orders that are created at the same time (docs/decisions/0012). Throws the
 * order's own Rejection or KeyTaken, never that of another order in the batch.
 */
export function createOrderStore(database: Database): StoreOrder {
  const store = createBatcher<NewOrderRow, StoreVerdict>({
    maxBatch: 32,
    slots: 3,
    channelOf: ({ order }) => order.channel_id,
    run: (rows) => storeBatch(database, rows),
  });
  return async (row, caller) => {
    const verdict = await store(row, caller);
    caller.markBegun();
    if (verdict instanceof Error) throw verdict;
    if (verdict === 'KEY_TAKEN') throw new KeyTaken();
    if (verdict === 'NUMBER_OF_ANOTHER_CHANNEL') throw new NumberOfAnotherChannel();
    if (verdict !== undefined) throw new Rejection(verdict);
  };
}

async function storeBatch(database: Database, rows: readonly NewOrderRow[]): Promise<StoreVerdict[]> {
  const { first, rest } = separateTwins(rows);
  const verdicts = new Map<NewOrderRow, StoreVerdict>();
  const keep = (some: readonly NewOrderRow[], judged: readonly StoreVerdict[]) => {
    some.forEach((row, index) => {
      verdicts.set(row, judged[index]);
    });
  };
  const outOfTime = new Map<number, number>();
  const storeOneByOne = async (some: readonly NewOrderRow[]) => {
    for (const row of some) {
      const { channel_id: channelId } = row.order;
      const before = outOfTime.get(channelId) ?? 0;
      const verdict =
        before < MAX_OUT_OF_TIME
          ? await storeAlone(database, row)
          : new HeldUp('an earlier order of this channel timed out');
      if (isTimeout(verdict)) outOfTime.set(channelId, before + 1);
      keep([row], [verdict]);
    }
  };
  try {
    keep(first, await insertOrders(database, first));
  } catch (error) {
    // An unreachable database fails the whole batch. After any other error each order gets its own verdict.
    if (isDatabaseAway(error)) throw error;
    const taken = await toNumberTaken(database, error);
    // The whole batch gets new order numbers, because all its numbers come from the same block of numbers or from the
    // next block.
    if (taken) for (const row of first) keep([row], [taken]);
    else if (first.length === 1 && isTimeout(error)) keep(first, [error]);
    else await storeOneByOne(first);
  }
  // Stores the orders in `rest` one at a time, so that each statement sees the rows stored before it.
  await storeOneByOne(rest);
  return rows.map((row) => verdicts.get(row));
}

/**
 * Stores one order. After a unique violation the conflicting row is visible, so the next attempt refuses the order for
 * the right reason. Throws if the database is unreachable. Returns any other error, so that the next order of the batch
 * is attempted.
 */
async function storeAlone(database: Database, row: NewOrderRow): Promise<StoreVerdict> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [verdict] = await insertOrders(database, [row]);
      return verdict;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      const taken = await toNumberTaken(database, error);
      if (taken) return taken;
      if (sqlState(error) !== '23505' || attempt === 5)
        return error instanceof Error ? error : new Error(String(error));
      if (violatedConstraint(error) !== 'idempotency_pkey') continue;
      const expired =
        row.idempotency &&
        (await deleteExpiredKey(database, row.order.channel_id, row.idempotency.key, IDEMPOTENCY_DAYS));
      if (!expired) return 'KEY_TAKEN';
    }
  }
}

async function toNumberTaken(database: Database, error: unknown): Promise<NumberTaken | undefined> {
  if (error instanceof NumberTaken) return error;
  if (!CONSTRAINTS_OF_ORDER_NUMBER.test(violatedConstraint(error) ?? '')) return undefined;
  await moveLaggingSequences(database);
  return new NumberTaken('rows with this order number exist', { cause: error });
}

/**
 * Moves an order to `rest` if it shares its number, user, mobile or idempotency key with an earlier order, or its
 * agreement number with an earlier order of another channel. Rows of one statement do not see each other, so `rest` is
 * stored one by one.
 */
function separateTwins(rows: readonly NewOrderRow[]): { first: NewOrderRow[]; rest: NewOrderRow[] } {
  const taken = new Set<string>();
  /** The channel of each agreement number in `first`. */
  const numbers = new Map<string, number>();
  const first: NewOrderRow[] = [];
  const rest: NewOrderRow[] = [];
  for (const row of rows) {
    const { order, idempotency } = row;
    const uniqueValues = [
      `number ${order.external_order_no}`,
      `user ${order.channel_id} ${order.channel_user_id}`,
      ...(order.mobile_hash === null ? [] : [`mobile ${order.channel_id} ${order.mobile_hash}`]),
      ...(idempotency === null ? [] : [`key ${order.channel_id} ${idempotency.key}`]),
    ];
    const number = `${order.payment_channel_code} ${order.exclusive_number}`;
    const isForeign = order.exclusive_number !== null && (numbers.get(number) ?? order.channel_id) !== order.channel_id;
    if (isForeign || uniqueValues.some((value) => taken.has(value))) rest.push(row);
    else {
      for (const value of uniqueValues) taken.add(value);
      if (order.exclusive_number !== null) numbers.set(number, order.channel_id);
      first.push(row);
    }
  }
  return { first, rest };
}
