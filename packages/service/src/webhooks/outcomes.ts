import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Database, Unavailable } from '../db/database.js';
import type { BusinessCounts } from '../metrics/counts.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import { keyOf } from './due-sql.js';
import { finishPushes, type Pushed } from './finish-sql.js';
import { RETRY_DELAYS_SECONDS } from './schedule.js';

export interface OutcomesDeps<One extends Pushed> {
  readonly database: Database;
  readonly log: Logger;
  readonly counts?: BusinessCounts | undefined;
  /** No longer worth trying: the node ends, and its lease with it. */
  readonly givingUp: () => boolean;
  /** They are written down, or are another node's matter by now; or they could not be written down. */
  readonly over: (pushed: readonly One[], isWritten: boolean) => void;
}

const MOST_TOGETHER = 512;
/** Statements under way: one that is held up by a lock does not hold up the rest. */
const SLOTS = 2;
/** Between the beginnings of two that are not full: nobody waits for them. */
const PAUSE_MS = 20;

/**
 * Writes down how pushes ended, many in one statement. While the database is away they wait: nobody else has sent them. Not by
 * `gather`: nobody waits for a single one, and a promise and a closure for each were part of what a push took.
 */
export function outcomes<One extends Pushed>({ database, log, counts, givingUp, over }: OutcomesDeps<One>) {
  let queue: One[] = [];
  let running = 0;
  let isScheduled = false;
  let lastStart = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (isScheduled || queue.length === 0 || running >= SLOTS) return;
    isScheduled = true;
    const wait = queue.length < MOST_TOGETHER ? lastStart + PAUSE_MS - performance.now() : 0;
    setTimeout(() => {
      isScheduled = false;
      void start();
    }, wait);
  }

  async function start(): Promise<void> {
    const batch = queue.slice(0, MOST_TOGETHER);
    queue = queue.slice(MOST_TOGETHER);
    lastStart = performance.now();
    running += 1;
    schedule();
    const isWritten = await writeDown(batch);
    running -= 1;
    schedule();
    over(batch, isWritten);
  }

  async function writeDown(batch: readonly One[]): Promise<boolean> {
    for (;;) {
      try {
        if (batch.some(isLast)) {
          const givenUp = await writeWithAlerts(database, batch);
          counts?.givenUp(givenUp);
        } else await finishPushes(database, batch);
        return true;
      } catch (err) {
        if (!(err instanceof Unavailable) || givingUp()) {
          for (const { due } of batch) {
            const cause = 'writing down how pushes ended';
            log.warn({ err, eventId: String(keyOf(due)), cause }, 'how a push ended could not be written down');
          }
          return false;
        }
        await delay(200);
      }
    }
  }

  return {
    write(pushed: One): void {
      queue.push(pushed);
      schedule();
    },
  };
}

/** As far as this node knows: one that was replayed meanwhile goes on after all, and none is given up unexpectedly. */
const isLast = ({ outcome, due, isHopeless }: Pushed) =>
  outcome !== 'ACCEPTED' && (isHopeless || due.step >= RETRY_DELAYS_SECONDS.length);

/** How many were given up. */
async function writeWithAlerts(database: Database, pushed: readonly Pushed[]): Promise<number> {
  return database.transaction(async (tx) => {
    const givenUp = await finishPushes(tx, pushed);
    for (const { appId, count } of givenUp) {
      await raiseAlert(tx, 'webhook-given-up', appId, `${count} given up at once`);
    }
    return givenUp.reduce((sum, { count }) => sum + count, 0);
  });
}
