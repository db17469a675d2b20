import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '@opentelemetry/api';
import { findTracing } from '../../tracing.js';
import { BACKGROUND_CALLER, type Caller, NotBegun } from './caller.js';

/**
 * Lets concurrent calls share a statement (docs/decisions/0002-admission.md). A call runs immediately if no batch is in
 * flight. Otherwise it waits until that batch returns, and then runs together with all waiting calls. So batches grow
 * only under load.
 *
 * On a busy node a small batch waits a little for more calls, because most of a batch's cost is fixed. A further batch
 * may run beside slow batches, so that a lock does not hold up the other calls. A full batch may run beside any batch.
 * If more calls wait than fit into a batch, channels take turns. Calls whose callers have hung up or waited too long
 * are not begun.
 */
export interface BatcherOptions<Item, Answer> {
  readonly maxBatch: number;
  /** Returns the channel of an item, so that channels can take turns. Undefined: calls run in order of arrival. */
  readonly channelOf?: (item: Item) => number;
  /** Maximum number of batches in flight. */
  readonly slots: number;
  /** Returns the answers in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
}

/** A batch is slow after this time, several times the usual duration. A further batch may then run beside it. */
const SLOW_BATCH_MS = 25;
/**
 * On a busy node, a batch with fewer calls than this waits up to FILL_MS for more calls. Measured over a bridge: 214
 * creations/s instead of 172.
 */
const SMALL_BATCH = 8;
const FILL_MS = 10;
/** The number of calls that are answered per turn of the event loop. More would delay events that have arrived. */
const RESOLVED_AT_ONCE = 16;
/** Interval in ms at which queued calls are rejected if their callers no longer wait. */
const SWEEP_MS = 100;

export function createBatcher<Item, Answer>({ maxBatch, slots, channelOf, run }: BatcherOptions<Item, Answer>) {
  interface Waiting {
    readonly item: Item;
    readonly caller: Caller;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (reason: unknown) => void;
    readonly context: Context | undefined;
  }
  const tracing = findTracing();
  let queue: Waiting[] = [];
  let running = 0;
  let slow = 0;
  let isScheduled = false;
  let fillTimer: NodeJS.Timeout | undefined;
  let isSweeping = false;

  const mayStart = () => queue.length > 0 && running < slots && (running === slow || queue.length >= maxBatch);

  function schedule(): void {
    if (isScheduled || !mayStart()) return;
    isScheduled = true;
    // Waits one turn of the event loop, so that calls that arrive in one read of a socket share a batch.
    setImmediate(() => {
      if (queue.length < SMALL_BATCH && queue.some(({ caller }) => caller.isNodeBusy()))
        fillTimer = setTimeout(start, FILL_MS);
      else start();
    });
  }

  function start(): void {
    clearTimeout(fillTimer);
    fillTimer = undefined;
    isScheduled = false;
    while (mayStart()) void runBatch(nextBatch().filter(keepIfWaiting));
  }

  /** Takes the first call of each channel, then the second of each, and so on. Keeps the order within a channel. */
  function nextBatch(): Waiting[] {
    if (!channelOf || queue.length <= maxBatch) return queue.splice(0, maxBatch);
    const counts = new Map<number, number>();
    const inTurn = queue.map((waiting) => {
      const channel = channelOf(waiting.item);
      const turn = counts.get(channel) ?? 0;
      counts.set(channel, turn + 1);
      return { waiting, turn };
    });
    const batch = new Set(
      inTurn
        .toSorted((a, b) => a.turn - b.turn)
        .slice(0, maxBatch)
        .map(({ waiting }) => waiting),
    );
    queue = queue.filter((waiting) => !batch.has(waiting));
    return [...batch];
  }

  /** Periodically rejects calls whose callers have hung up or waited too long, even before their turn comes. */
  function rejectAbandonedSoon(): void {
    if (isSweeping || queue.length === 0) return;
    isSweeping = true;
    setTimeout(() => {
      isSweeping = false;
      queue = queue.filter(keepIfWaiting);
      rejectAbandonedSoon();
    }, SWEEP_MS).unref();
  }

  function keepIfWaiting({ caller, reject }: Waiting): boolean {
    if (caller.isWaiting()) return true;
    reject(new NotBegun());
    return false;
  }

  async function resolveAll(batch: readonly Waiting[], answers: readonly Answer[]): Promise<void> {
    for (const [position, waiting] of batch.entries()) {
      if (position > 0 && position % RESOLVED_AT_ONCE === 0) await nextTurn();
      waiting.resolve(answers[position] as Answer);
    }
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    running += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      slow += 1;
      schedule();
    }, SLOW_BATCH_MS);
    try {
      const items = batch.map((waiting) => waiting.item);
      const context = batch[0]?.context;
      // In a trace, the batch's statement belongs to the span of its first call.
      const answers = await (tracing && context ? tracing.runWithin({ context }, () => run(items)) : run(items));
      void resolveAll(batch, answers);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    } finally {
      clearTimeout(timer);
      running -= 1;
      if (isSlow) slow -= 1;
      schedule();
    }
  }

  return (item: Item, caller = BACKGROUND_CALLER): Promise<Answer> =>
    new Promise((resolve, reject) => {
      queue.push({ item, caller, resolve, reject, context: tracing?.currentContext() });
      if (fillTimer && queue.length >= SMALL_BATCH) start();
      else schedule();
      if (running > 0) rejectAbandonedSoon();
    });
}
