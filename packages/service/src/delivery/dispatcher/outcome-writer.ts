import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import { type Database, HeldUp, Unavailable } from '../../platform/db/database.js';
import type { DeliveryCounts } from '../counts.js';
import { keyOf } from '../queue/due-sql.js';
import { findUnfinished, finishPushes, type PushOutcome } from '../queue/finish-sql.js';
import { PUSH_RETRY_DELAYS_SECONDS } from '../schedule.js';
import type { ReadsInProgress } from './reads-in-progress.js';
import type { FinishedPush, Shard } from './shard.js';

export interface OutcomeWriterDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly counts?: DeliveryCounts | undefined;
  readonly reads: ReadsInProgress;
  /** Returns true if the node is stopping and its lease has ended, so that retries are pointless. */
  readonly shouldGiveUp: () => boolean;
  /** Called after each batch, because there may be room for outcomes again. */
  readonly onWritten: () => void;
  /** Called when a shard's last blocked outcome has been written. */
  readonly onUnblocked: (shard: Shard) => void;
}

/** If this many outcomes are not stored yet, the node begins no pushes. */
const MAX_UNWRITTEN = 2_000;
const MAX_PER_STATEMENT = 512;
const MAX_STATEMENTS_AT_ONCE = 2;
/**
 * The pause between the starts of two statements. A statement with MAX_PER_STATEMENT outcomes starts without this
 * pause.
 */
const PAUSE_MS = 20;
/** Delay before a retry when the database fails or a row is locked. */
const RETRY_MS = 200;

/**
 * Stores the outcomes of pushes, many in one statement. Keeps them in memory while the database is unreachable.
 * Outcomes whose rows another transaction has locked are retried separately. Until these outcomes are stored, all
 * statements skip locked rows.
 *
 * The writer uses no batcher, because no caller awaits a single outcome. A promise and a closure per outcome were a
 * noticeable part of a push's cost.
 */
export class OutcomeWriter {
  private queue: FinishedPush[] = [];
  /** Outcomes whose rows another transaction has locked. */
  private blocked: FinishedPush[] = [];
  private unwritten = 0;
  private statementsRunning = 0;
  private isScheduled = false;
  private isRetrying = false;
  private lastStart = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: OutcomeWriterDeps) {}

  add(push: FinishedPush): void {
    this.unwritten += 1;
    push.shard.unfinishedPushes += 1;
    this.queue.push(push);
    this.schedule();
  }

  hasRoom(): boolean {
    return this.unwritten < MAX_UNWRITTEN;
  }

  isIdle(): boolean {
    return this.unwritten === 0;
  }

  private schedule(): void {
    if (this.isScheduled || this.queue.length === 0 || this.statementsRunning >= MAX_STATEMENTS_AT_ONCE) return;
    this.isScheduled = true;
    const wait = this.queue.length < MAX_PER_STATEMENT ? this.lastStart + PAUSE_MS - performance.now() : 0;
    setTimeout(() => {
      this.isScheduled = false;
      void this.writeNextBatch();
    }, wait);
  }

  private async writeNextBatch(): Promise<void> {
    const batch = this.queue.slice(0, MAX_PER_STATEMENT);
    this.queue = this.queue.slice(MAX_PER_STATEMENT);
    this.lastStart = performance.now();
    this.statementsRunning += 1;
    this.schedule();
    const blocked = await this.write(batch);
    this.statementsRunning -= 1;
    this.schedule();
    if (blocked && blocked.length > 0) {
      for (const { shard } of blocked) shard.blockedOutcomes += 1;
      this.blocked = [...this.blocked, ...blocked];
      void this.retryBlocked();
    }
    this.finishBatch(batch, blocked);
  }

  private async retryBlocked(): Promise<void> {
    if (this.isRetrying) return;
    this.isRetrying = true;
    while (this.blocked.length > 0) {
      await delay(RETRY_MS);
      const batch = this.blocked.slice(0, MAX_PER_STATEMENT);
      const stillBlocked = await this.write(batch);
      // Outcomes that are still blocked go to the end of the list, so that the other blocked outcomes get a turn.
      this.blocked = [...this.blocked.slice(batch.length), ...(stillBlocked ?? [])];
      this.unblock(stillBlocked ? without(batch, stillBlocked) : batch);
      this.finishBatch(batch, stillBlocked);
    }
    this.isRetrying = false;
  }

  private unblock(pushes: readonly FinishedPush[]): void {
    for (const { shard } of pushes) {
      shard.blockedOutcomes -= 1;
      if (shard.blockedOutcomes === 0) this.deps.onUnblocked(shard);
    }
  }

  /** `blocked` contains the outcomes whose rows are locked. It is undefined if nothing of the batch could be stored. */
  private finishBatch(batch: readonly FinishedPush[], blocked: readonly FinishedPush[] | undefined): void {
    const finished = !blocked || blocked.length === 0 ? batch : without(batch, blocked);
    this.unwritten -= finished.length;
    for (const { shard, due } of finished) {
      shard.unfinishedPushes -= 1;
      // An event whose outcome could not be stored stays in `known`. It is still due and would otherwise be pushed
      // again and again.
      if (!blocked) continue;
      const key = keyOf(due);
      shard.known.delete(key);
      this.deps.reads.addFinished(key);
    }
    this.deps.onWritten();
  }

  /**
   * Stores the outcomes. Returns those whose rows are locked, or undefined if nothing could be stored and the node
   * gives up. Outcomes of a shard that another node has taken over count as stored.
   */
  private async write(batch: readonly FinishedPush[]): Promise<readonly FinishedPush[] | undefined> {
    const { database, counts, shouldGiveUp } = this.deps;
    for (let skipLocked = this.blocked.length > 0; ; ) {
      try {
        if (batch.some(isLastPush)) {
          const givenUp = await writeWithAlerts(database, batch, skipLocked);
          counts?.countGivenUp(givenUp);
        } else await finishPushes(database, batch, skipLocked);
        return skipLocked ? await findUnfinished(database, batch) : [];
      } catch (err) {
        if (!(err instanceof Unavailable) || shouldGiveUp()) {
          this.logUnwritten(batch, err);
          return undefined;
        }
        if (err instanceof HeldUp && !skipLocked) skipLocked = true;
        else await delay(RETRY_MS);
      }
    }
  }

  private logUnwritten(batch: readonly FinishedPush[], err: unknown): void {
    for (const { due } of batch) {
      const cause = 'writing down how pushes ended';
      this.deps.log.warn(
        { err, eventId: String(keyOf(due)), cause },
        'push outcome not stored; the next holder of the shard pushes the event again',
      );
    }
  }
}

function without<Item>(all: readonly Item[], some: readonly Item[]): Item[] {
  const excluded = new Set(some);
  return all.filter((one) => !excluded.has(one));
}

/**
 * Returns true if no retry seems to follow this failed push. Always true for a last push. Also true for a push that is
 * retried, if the event was replayed during the push; the statement decides.
 */
const isLastPush = ({ outcome, due, isHopeless }: PushOutcome) =>
  outcome !== 'ACCEPTED' && (isHopeless || due.step >= PUSH_RETRY_DELAYS_SECONDS.length);

/** Stores the outcomes and raises alerts. Returns the number of events that were given up. */
async function writeWithAlerts(
  database: Database,
  pushes: readonly PushOutcome[],
  skipLocked: boolean,
): Promise<number> {
  return database.transaction(async (tx) => {
    const givenUp = await finishPushes(tx, pushes, skipLocked);
    for (const { appId, count } of givenUp) {
      await raiseAlert(tx, 'webhook-given-up', appId, alertText('webhook-given-up', count));
    }
    return givenUp.reduce((sum, { count }) => sum + count, 0);
  });
}
