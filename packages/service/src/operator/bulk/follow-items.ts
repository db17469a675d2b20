import type { Queryable } from '../../platform/db/database.js';
import { formatRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { type Operator, refusal } from '../operator.js';
import { requireRetryable } from '../orders/orders.js';
import { createRefundRefused } from '../orders/refunds/refunds.js';
import { resultText } from '../result-texts.js';
import { quoted } from '../rules.js';
import { type ItemResult, storeItemResult } from './bulk-sql.js';
import { refusalOf } from './find-items.js';
import {
  alignRuns,
  type DecidedRefund,
  type FinishedReplay,
  findDecidedRefunds,
  findFinishedReplays,
  findSettledRetries,
  type ItemReference,
  reopenItems,
  type SettledRetry,
} from './follow-items-sql.js';

const ITEMS_PER_TURN = 1000;

/** Stores the final results of pending items, ends their runs, and returns the number of items. */
export async function followItems({ database }: Pick<Operator, 'database'>): Promise<number> {
  await reopenItems(database);
  const followed =
    (await follow(database, findDecidedRefunds, toRefundResult)) +
    (await follow(database, findSettledRetries, toRetryResult)) +
    (await follow(database, findFinishedReplays, toReplayResult));
  await alignRuns(database);
  return followed;
}

async function follow<Found extends ItemReference>(
  db: Queryable,
  find: (db: Queryable, limit: number) => Promise<Found[]>,
  toResult: (found: Found) => ItemResult,
): Promise<number> {
  const found = await find(db, ITEMS_PER_TURN);
  for (const one of found) await storeItemResult(db, one.runId, one.itemNo, toResult(one));
  return found.length;
}

const toFailed = (error: { readonly message: string; readonly refusal: ItemResult['refusal'] }): ItemResult => ({
  ...{ status: 'FAILED', result: error.message, refusal: error.refusal },
});

function toRefundResult(refund: DecidedRefund): ItemResult {
  if (refund.status === 'FAIL') return toFailed(createRefundRefused(refund));
  return { status: 'DONE', result: resultText('refund-is', formatRefundNo(refund), refund.status) };
}

function toRetryResult({ orderNo, cycleNo, paymentStatus, attempt, reason }: SettledRetry): ItemResult {
  if (attempt === 'SUCCESS') return { status: 'DONE', result: resultText('debit-succeeded') };
  const refused =
    attempt === null ? refusalOf(() => requireRetryable(orderNo, { cycleNo, status: paymentStatus })) : null;
  return refused
    ? toFailed(refused)
    : { status: 'FAILED', result: resultText('debit-failed', reason || 'no reason given') };
}

function toReplayResult({ subject, isGone, reason }: FinishedReplay): ItemResult {
  if (isGone) return toFailed(refusal('event-gone')`event ${quoted(subject)} no longer exists`);
  if (reason === null) return { status: 'DONE', result: resultText('event-accepted') };
  return { status: 'FAILED', result: resultText(reason === 'GIVE_UP' ? 'event-given-up' : 'event-no-callback') };
}
