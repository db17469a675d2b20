import { IDEMPOTENCY_WINDOW_MS, Rejection } from '@perennial/wire';
import {
  type Database,
  HeldUp,
  isDatabaseAway,
  isTimeout,
  NumberTaken,
  sqlState,
  violatedConstraint,
} from '../../../platform/db/database.js';
import { moveLaggingSequences } from '../../../platform/db/sequences.js';
import { createBatcher } from '../../../platform/db/sharing/batcher.js';
import type { Caller } from '../../../platform/db/sharing/caller.js';
import { KeyTaken } from '../../../platform/idempotency/run-once.js';
import { NumberOfAnotherChannel } from '../../store/agreements/shared.js';
import {
  deleteExpiredKey,
  insertOrders,
  type NewOrderRefusal,
  type NewOrderRow,
} from '../../store/orders/new-order-sql.js';

export type StoreOrder = (row: NewOrderRow, caller: Caller) => Promise<void>;

type Verdict = NewOrderRefusal | 'KEY_TAKEN' | Error | undefined;

/** Rows of an order's own number, beside the order itself. */
const OF_ITS_NUMBER = /^(payments|debit_attempts|benefits)_pkey$/;

const DAYS = IDEMPOTENCY_WINDOW_MS / 86_400_000;

/** Orders of one channel that may run out of time, one at a time, before its others in the batch are not tried. */
const MOST_OUT_OF_TIME = 1;

/**
 * Writes a new order down, together with others that are created at the same time (docs/decisions/0012). Throws the
 * order's own Rejection or KeyTaken; what is wrong with another order in the batch is never this one's business.
 */
export function orderStore(database: Database): StoreOrder {
  const store = createBatcher<NewOrderRow, Verdict>({
    maxBatch: 32,
    slots: 3,
    channelOf: (row) => row.channel_id,
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

async function storeBatch(database: Database, rows: readonly NewOrderRow[]): Promise<Verdict[]> {
  const { first, rest } = withoutTwins(rows);
  const verdicts = new Map<NewOrderRow, Verdict>();
  const keep = (some: readonly NewOrderRow[], judged: readonly Verdict[]) => {
    some.forEach((row, index) => {
      verdicts.set(row, judged[index]);
    });
  };
  const outOfTime = new Map<number, number>();
  const storeOneByOne = async (some: readonly NewOrderRow[]) => {
    for (const row of some) {
      const before = outOfTime.get(row.channel_id) ?? 0;
      const verdict = before < MOST_OUT_OF_TIME ? await storeAlone(database, row) : new HeldUp('others took too long');
      if (isTimeout(verdict)) outOfTime.set(row.channel_id, before + 1);
      keep([row], [verdict]);
    }
  };
  try {
    keep(first, await insertOrders(database, first));
  } catch (error) {
    // Whatever is wrong with one of them is not the others' business; a database that is away is everybody's.
    if (isDatabaseAway(error)) throw error;
    const taken = await numberTaken(database, error);
    // Their numbers are of the same block, more or less: each gets another.
    if (taken) for (const row of first) keep([row], [taken]);
    else if (first.length === 1 && isTimeout(error)) keep(first, [error]);
    else await storeOneByOne(first);
  }
  // Each sees what the one before it has left.
  await storeOneByOne(rest);
  return rows.map((row) => verdicts.get(row));
}

/**
 * After a unique violation the row that was in the way is visible, so the second time its refusal is known. Any other error is
 * this order's own, and is handed back so that the next one has its turn.
 */
async function storeAlone(database: Database, row: NewOrderRow): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [verdict] = await insertOrders(database, [row]);
      return verdict;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      const taken = await numberTaken(database, error);
      if (taken) return taken;
      if (sqlState(error) !== '23505' || attempt === 5)
        return error instanceof Error ? error : new Error(String(error));
      if (violatedConstraint(error) !== 'idempotency_pkey') continue;
      const expired = row.idempotency && (await deleteExpiredKey(database, row.channel_id, row.idempotency.key, DAYS));
      if (!expired) return 'KEY_TAKEN';
    }
  }
}

async function numberTaken(database: Database, error: unknown): Promise<NumberTaken | undefined> {
  if (error instanceof NumberTaken) return error;
  if (!OF_ITS_NUMBER.test(violatedConstraint(error) ?? '')) return undefined;
  await moveLaggingSequences(database);
  return new NumberTaken('rows of that number are there', { cause: error });
}

/**
 * Rows of one statement do not see each other, so no two may claim the same number, user, mobile or key, and no two channels
 * the same number of an agreement.
 */
function withoutTwins(rows: readonly NewOrderRow[]): { first: NewOrderRow[]; rest: NewOrderRow[] } {
  const claimed = new Set<string>();
  /** Which channel has claimed the number of an agreement. */
  const numbers = new Map<string, number>();
  const first: NewOrderRow[] = [];
  const rest: NewOrderRow[] = [];
  for (const row of rows) {
    const claims = [
      `number ${row.external_order_no}`,
      `user ${row.channel_id} ${row.channel_user_id}`,
      ...(row.mobile_hash === null ? [] : [`mobile ${row.channel_id} ${row.mobile_hash}`]),
      ...(row.idempotency === null ? [] : [`key ${row.channel_id} ${row.idempotency.key}`]),
    ];
    const number = `${row.payment_channel_code} ${row.exclusive_number}`;
    const isForeign = row.exclusive_number !== null && (numbers.get(number) ?? row.channel_id) !== row.channel_id;
    if (isForeign || claims.some((claim) => claimed.has(claim))) rest.push(row);
    else {
      for (const claim of claims) claimed.add(claim);
      if (row.exclusive_number !== null) numbers.set(number, row.channel_id);
      first.push(row);
    }
  }
  return { first, rest };
}
