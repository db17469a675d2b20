import { parseEventId } from '../../delivery/event-id.js';
import { type Queryable, Unavailable } from '../../platform/db/database.js';
import { isRefusal } from '../approvals/carry-out.js';
import { recordAudit } from '../audit/audit.js';
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
  findRunsOfDisabled,
  finishRun,
  type ItemResult,
  leaseRun,
  lockNextItem,
  lockRun,
  releaseRun,
  renewLease,
  storeCanceledRun,
  storeItemResult,
} from './bulk-sql.js';
import { findEventsByNumber, findNextTry } from './find-items-sql.js';

export interface WorkOffOptions {
  readonly stopping?: () => boolean;
  /** Called if an item fails with an unexpected error. The run continues with the next item. */
  readonly onFault?: (run: BulkRun, itemNo: number, error: unknown) => void;
  /** Overrides the default in tests. */
  readonly leaseSeconds?: number;
}

/**
 * The time for which a node leases a run. It is longer than an item usually takes. If this node dies, another node
 * continues the run after this time.
 */
const LEASE_SECONDS = 60;
/**
 * The number of items of one run that are processed before the next run gets a turn. So a long run does not delay short
 * runs.
 */
const ITEMS_PER_TURN = 50;

/**
 * Processes items of started runs, in turn, and returns the number of processed items. Each item runs the same step as
 * the action on one order, period or event.
 */
export async function workOffRuns(
  operator: Omit<OperatorWithGateways, 'actor'>,
  options: WorkOffOptions = {},
): Promise<number> {
  const { stopping = () => false, leaseSeconds = LEASE_SECONDS } = options;
  let done = 0;
  await stopRunsOfDisabled(operator);
  while (!stopping()) {
    const run = await leaseRun(operator.database, leaseSeconds);
    if (!run) break;
    // Acts in the name of the approver, or of the requester if the run needed no approval.
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

/** Cancels the runs of operators who were disabled after they had started them. */
async function stopRunsOfDisabled(operator: Omit<OperatorWithGateways, 'actor'>): Promise<void> {
  const actor = 'engine';
  for (const { runId, requestedBy } of await findRunsOfDisabled(operator.database)) {
    await inTransaction({ ...operator, actor }, async (tx) => {
      if ((await lockRun(tx, runId))?.status !== 'RUNNING') return;
      const { done } = await storeCanceledRun(tx, runId, actor);
      const detail = { disabled: requestedBy, done };
      await recordAudit(tx, { actor, action: 'bulk.cancel', subject: `run-${runId}`, detail });
    });
  }
}

/** Processes the next item. Returns false if no item is left or the run was canceled. */
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
      // A refund calls an institution, so it runs after this transaction. Its idempotency key prevents a second refund.
      if (!taken.item || run.kind === 'REFUND') return;
      // Items of other kinds are processed in the transaction that stores their result.
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

/** Returns true if the item must be retried: the database was unavailable, or the step may succeed later. */
const isPassing = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof OperatorError && !isRefusal(error));

/** Returns undefined if the run was canceled, or if no item is left. In the latter case, ends the run. */
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
  if (!event) throw refusal('event-gone')`event ${quoted(eventId)} no longer exists`;
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
