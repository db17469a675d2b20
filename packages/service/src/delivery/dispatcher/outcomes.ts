import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { raiseAlert } from '../../platform/alerts/raise-sql.js';
import { type Database, HeldUp, Unavailable } from '../../platform/db/database.js';
import type { BusinessCounts } from '../../platform/metrics/counts.js';
import { keyOf } from '../queue/due-sql.js';
import { findUnfinished, finishPushes, type Pushed } from '../queue/finish-sql.js';
import { RETRY_DELAYS_SECONDS } from '../schedule.js';

export interface OutcomesDeps<One extends Pushed> {
  readonly database: Database;
  readonly log: Logger;
  readonly counts?: BusinessCounts | undefined;
  /** No longer worth trying: the node ends, and its lease with it. */
  readonly givingUp: () => boolean;
  /** They are written down, or are another node's matter by now; or they could not be written down. */
  readonly over: (pushed: readonly One[], isWritten: boolean) => void;
  /** Somebody else holds what is to be written down about them, or does not any more. */
  readonly heldUp: (pushed: readonly One[], isHeldUp: boolean) => void;
}

const MOST_TOGETHER = 512;
/** Statements under way. */
const SLOTS = 2;
/** Between the beginnings of two that are not full: nobody waits for them. */
const PAUSE_MS = 20;
/** Until the database is asked again for what it could not do. */
const AGAIN_MS = 200;

/**
 * Writes down how pushes ended, many in one statement. While the database is away they wait: nobody else has sent them. What
 * somebody else holds waits by itself, and is tried again; as long as there is such, everything else passes it over. Not by
 * `gather`: nobody waits for a single one, and a promise and a closure for each were part of what a push took.
 */
export function outcomes<One extends Pushed>({ database, log, counts, givingUp, over, heldUp }: OutcomesDeps<One>) {
  let queue: One[] = [];
  /** What could not be written down, because somebody else holds it. */
  let held: One[] = [];
  let running = 0;
  let isScheduled = false;
  let isTryingAgain = false;
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
    const left = await writeDown(batch);
    running -= 1;
    schedule();
    if (left && left.length > 0) {
      heldUp(left, true);
      held = [...held, ...left];
      void tryAgain();
    }
    tell(batch, left);
  }

  async function tryAgain(): Promise<void> {
    if (isTryingAgain) return;
    isTryingAgain = true;
    while (held.length > 0) {
      await delay(AGAIN_MS);
      const batch = held.slice(0, MOST_TOGETHER);
      const left = await writeDown(batch);
      const done = left ? without(batch, left) : batch;
      // What is left goes to the end, so that the others have their turn.
      held = [...held.slice(batch.length), ...(left ?? [])];
      heldUp(done, false);
      tell(batch, left);
    }
    isTryingAgain = false;
  }

  function tell(batch: readonly One[], left: readonly One[] | undefined): void {
    if (!left) over(batch, false);
    else over(left.length === 0 ? batch : without(batch, left), true);
  }

  /** What is left because somebody else holds it; undefined when nothing could be written down, for good. */
  async function writeDown(batch: readonly One[]): Promise<readonly One[] | undefined> {
    for (let isPassing = held.length > 0; ; ) {
      try {
        if (batch.some(isLast)) {
          const givenUp = await writeWithAlerts(database, batch, isPassing);
          counts?.givenUp(givenUp);
        } else await finishPushes(database, batch, isPassing);
        return isPassing ? await findUnfinished(database, batch) : [];
      } catch (err) {
        if (!(err instanceof Unavailable) || givingUp()) {
          for (const { due } of batch) {
            const cause = 'writing down how pushes ended';
            log.warn({ err, eventId: String(keyOf(due)), cause }, 'how a push ended could not be written down');
          }
          return undefined;
        }
        if (err instanceof HeldUp && !isPassing) isPassing = true;
        else await delay(AGAIN_MS);
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

function without<One>(all: readonly One[], some: readonly One[]): One[] {
  const left = new Set(some);
  return all.filter((one) => !left.has(one));
}

/** As far as this node knows: one that was replayed meanwhile goes on after all, and none is given up unexpectedly. */
const isLast = ({ outcome, due, isHopeless }: Pushed) =>
  outcome !== 'ACCEPTED' && (isHopeless || due.step >= RETRY_DELAYS_SECONDS.length);

/** How many were given up. */
async function writeWithAlerts(database: Database, pushed: readonly Pushed[], isPassing: boolean): Promise<number> {
  return database.transaction(async (tx) => {
    const givenUp = await finishPushes(tx, pushed, isPassing);
    for (const { appId, count } of givenUp) {
      await raiseAlert(tx, 'webhook-given-up', appId, `${count} given up at once`);
    }
    return givenUp.reduce((sum, { count }) => sum + count, 0);
  });
}
