import { parseEventId } from '../../delivery/event-id.js';
import { type Queryable, Unavailable } from '../../platform/db/database.js';
import { isRefusal } from '../approvals/carry-out.js';
import { replayNamedEvents } from '../events/events.js';
import { inTransaction, OperatorError, type OperatorWithGateways, refusal } from '../operator.js';
import { retryPeriod, unsubscribeOrder } from '../orders/orders.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { refundPayment } from '../orders/refunds/refunds.js';
import { resultText } from '../result-texts.js';
import { quoted } from '../rules.js';
import {
  type BulkItem,
  type BulkRun,
  finishRun,
  type ItemResult,
  leaseRun,
  lockNextItem,
  releaseRun,
  renewLease,
  storeItemResult,
} from './bulk-sql.js';
import { findEventsByNumber, findNextTry } from './find-items-sql.js';

export interface WorkOffOptions {
  readonly stopping?: () => boolean;
  /** A fault in one item: the others go on. */
  readonly onFault?: (run: BulkRun, itemNo: number, error: unknown) => void;
  /** In place of the usual one, for a test that cannot wait. */
  readonly leaseSeconds?: number;
}

/** Longer than any item takes, with its institution. If the node dies, another goes on after that. */
const LEASE_SECONDS = 60;
/** Then it is another run's turn, so that a long one does not hold up a short one. */
const ITEMS_PER_TURN = 50;

/** Does items of the runs that were started, one after another, each by the step that does a single one. Returns how many. */
export async function workOffRuns(
  operator: Omit<OperatorWithGateways, 'actor'>,
  options: WorkOffOptions = {},
): Promise<number> {
  const { stopping = () => false, leaseSeconds = LEASE_SECONDS } = options;
  let done = 0;
  while (!stopping()) {
    const run = await leaseRun(operator.database, leaseSeconds);
    if (!run) break;
    // In the name of who asked for it, or of the second person, who has let it happen.
    const inName = { ...operator, actor: run.approvedBy ?? run.requestedBy };
    try {
      for (let turn = 0; turn < ITEMS_PER_TURN && !stopping(); turn += 1) {
        if (!(await doNextItem(inName, run, leaseSeconds, options.onFault))) break;
        done += 1;
      }
    } finally {
      await releaseRun(operator.database, run.runId);
    }
  }
  return done;
}

/** False when nothing is left, or the run was canceled. */
async function doNextItem(
  operator: OperatorWithGateways,
  run: BulkRun,
  leaseSeconds: number,
  onFault: WorkOffOptions['onFault'],
): Promise<boolean> {
  const { database } = operator;
  const taken: { item?: BulkItem | undefined } = {};
  try {
    await inTransaction(operator, async (tx, joined) => {
      taken.item = await takeNextItem(tx, run.runId, leaseSeconds);
      // A refund calls an institution, which no transaction waits for: its key keeps it from being made twice.
      if (!taken.item || run.kind === 'REFUND') return;
      // All others are done in the transaction that writes down that they were.
      await storeItemResult(
        tx,
        run.runId,
        taken.item.itemNo,
        await doItem({ ...operator, ...joined }, run, taken.item),
      );
    });
    if (taken.item && run.kind === 'REFUND') {
      await storeItemResult(database, run.runId, taken.item.itemNo, await refundItem(operator, run, taken.item));
    }
  } catch (error) {
    if (!taken.item || isPassing(error)) throw error;
    if (!isRefusal(error)) onFault?.(run, taken.item.itemNo, error);
    const result = isRefusal(error)
      ? { result: error.message, refusal: error.refusal }
      : { result: resultText('fault') };
    await storeItemResult(database, run.runId, taken.item.itemNo, { status: 'FAILED', ...result });
  }
  return taken.item !== undefined;
}

/** Whether the item is to be tried again: the database was away, or the step says that it may succeed. */
const isPassing = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof OperatorError && !isRefusal(error));

/** Undefined when there is none, which ends the run, or when it was canceled. */
async function takeNextItem(tx: Queryable, runId: number, leaseSeconds: number): Promise<BulkItem | undefined> {
  if (!(await renewLease(tx, runId, leaseSeconds))) return undefined;
  const item = await lockNextItem(tx, runId);
  if (!item) await finishRun(tx, runId);
  return item;
}

const DONE = (result: string): ItemResult => ({ status: 'DONE', result });
const PENDING = (result: string): ItemResult => ({ status: 'PENDING', result });
const SKIPPED = (result: string): ItemResult => ({ status: 'SKIPPED', result });

async function doItem(
  joined: Parameters<typeof unsubscribeOrder>[0],
  run: BulkRun,
  item: BulkItem,
): Promise<ItemResult> {
  switch (run.kind) {
    case 'RETRY': {
      const period = requirePeriod(item);
      const { changed } = await retryPeriod(joined, { orderNo: String(period.orderNo), cycleNo: period.cycleNo });
      if (!changed) return SKIPPED(resultText('due-already'));
      return { ...PENDING(resultText('due-now')), awaitedTry: await findNextTry(joined.database, period) };
    }
    case 'UNSUBSCRIBE': {
      const { orderStatus, changed } = await unsubscribeOrder(joined, { orderNo: item.subject, reason: run.reason });
      return changed ? DONE(resultText('order-is', orderStatus)) : SKIPPED(resultText('order-was', orderStatus));
    }
    case 'REPLAY': {
      const { replayed } = await replayEvent(joined, item.subject);
      return PENDING(resultText('events-queued', replayed));
    }
    case 'REFUND':
      throw new Error('a refund is not made in a transaction');
  }
}

async function replayEvent(joined: Parameters<typeof replayNamedEvents>[0], eventId: string) {
  const eventNo = parseEventId(eventId)?.eventNo ?? 0;
  const [event] = await findEventsByNumber(joined.database, [eventNo]);
  if (!event) throw refusal('event-gone')`there is no event ${quoted(eventId)} any more`;
  return replayNamedEvents(joined, { appId: event.appId, eventIds: [eventId] });
}

async function refundItem(operator: OperatorWithGateways, run: BulkRun, item: BulkItem): Promise<ItemResult> {
  const { orderNo, cycleNo } = requirePeriod(item);
  const { refundNo, status } = await refundPayment(operator, {
    orderNo: String(orderNo),
    cycleNo,
    amountCent: item.amountCent,
    key: `run-${run.runId}-${item.itemNo}`,
    note: run.reason,
    ...(run.approvalId === null ? {} : { approval: { approvalId: run.approvalId, requestedBy: run.requestedBy } }),
  });
  const result = resultText('refund-is', refundNo, status);
  return status === 'STARTED' ? PENDING(result) : DONE(result);
}

function requirePeriod({ subject }: BulkItem) {
  const period = parsePeriodSubject(subject);
  if (!period) throw new Error(`${subject} names no period`);
  return period;
}
