import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.js';
import type { RedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import { type DueEvent, keyOf, readChannel, readEvents, type StoredEvent } from '../queue/due-sql.js';
import { expandRange, type PushOutcome } from '../queue/finish-sql.js';
import { createMessage, type Message } from '../receivers/message.js';
import type { Receiver, Receivers } from '../receivers/receivers.js';
import type { Lane } from './lane.js';
import type { ReadsInProgress } from './reads-in-progress.js';
import { type FinishedPush, leadsTo, type Shard } from './shard.js';

export interface LaneLoaderDeps {
  readonly database: Database;
  readonly receivers: Receivers;
  readonly links: RedeemLinks;
  readonly log: Logger;
  readonly reads: ReadsInProgress;
  /** Called with the outcome of an event that cannot be sent. */
  readonly recordOutcome: (push: FinishedPush) => void;
  /** A clock for tests; undefined selects the database's clock. */
  readonly now: () => number | undefined;
}

/** The maximum number of a lane's events that one statement reads in full. */
const MESSAGES_PER_LOAD = 128;
/** The maximum number of a lane's deferred keys that one statement reads. */
const KEYS_PER_READ = 1_000;
/** An event about a range of voided periods is expanded into one row per period, at most 100 periods at a time. */
const PERIODS_PER_EXPANSION = 100;

/** Reads the next events of a lane in full, and the keys of events that did not fit into the lane's memory. */
export class LaneLoader {
  constructor(private readonly deps: LaneLoaderDeps) {}

  isNeeded(lane: Lane): boolean {
    return lane.needsLoading(MESSAGES_PER_LOAD);
  }

  /** Loads the next messages of a lane. Never rejects: events that could not be read are still in the database. */
  async load(shard: Shard, lane: Lane): Promise<void> {
    lane.isLoading = true;
    let taken: readonly DueEvent[] = [];
    try {
      if (!lane.hasQueued(MESSAGES_PER_LOAD)) await this.readRest(lane);
      taken = lane.takeKeys(MESSAGES_PER_LOAD);
      await this.loadMessages(shard, lane, taken);
    } catch (err) {
      this.deps.log.warn({ err, cause: 'reading events' }, 'events could not be read; they will be read again');
      shard.rereadLane(lane, taken);
    } finally {
      lane.isLoading = false;
    }
  }

  private async readRest(lane: Lane): Promise<void> {
    const { database, reads, now } = this.deps;
    const after = lane.beginReadingRest();
    if (!after) return;
    const { timesCleared } = lane;
    await reads.run(async (finished) => {
      const rows = await readChannel(database, { shard: lane.shard, after }, lane, KEYS_PER_READ, now());
      if (lane.timesCleared !== timesCleared) return;
      const unfinished = rows.filter((row) => !finished.has(keyOf(row)));
      lane.offerRest(unfinished, rows.length === KEYS_PER_READ);
    });
  }

  private async loadMessages(shard: Shard, lane: Lane, taken: readonly DueEvent[]): Promise<void> {
    const { database, receivers, recordOutcome, now } = this.deps;
    const { timesCleared } = lane;
    for (const range of taken.filter(({ cycleTo }) => cycleTo !== null)) await this.expand(shard, lane, range);
    const due = taken.filter(({ cycleTo }) => cycleTo === null);
    if (due.length === 0 && lane.timesCleared === timesCleared) return;
    const events = await readEvents(database, lane.channelId, due);
    const any = events.find((event) => event !== undefined);
    const receiver = await receivers.get(lane.channelId, any?.version);
    if (lane.timesCleared !== timesCleared || !leadsTo(receiver, lane)) {
      shard.rereadLane(lane, due);
      return;
    }
    for (const [index, row] of due.entries()) {
      const message = this.prepareMessage(receiver, row, events[index]);
      if ('outcome' in message) recordOutcome({ ...message, shard, due: row, at: now() });
      else lane.addReady(message);
    }
  }

  private async expand(shard: Shard, lane: Lane, range: DueEvent): Promise<void> {
    const periods = await expandRange(this.deps.database, shard, range, PERIODS_PER_EXPANSION);
    // Without this, the first period would be skipped as known, because it has the same key as the range.
    shard.known.delete(keyOf(range));
    lane.offerFirst(periods);
  }

  private prepareMessage(receiver: Receiver, due: DueEvent, event: StoredEvent | undefined): Message | Unsendable {
    if (!event) return unsendable('the event is past its retention', true);
    try {
      return createMessage(receiver, this.deps.links, due, event);
    } catch (err) {
      this.deps.log.error(
        { err, eventId: String(keyOf(due)) },
        'event could not be composed; it will be retried, check its stored data',
      );
      return unsendable('the event could not be composed', false);
    }
  }
}

/** The outcome to store for an event that cannot be sent. */
type Unsendable = Omit<PushOutcome, 'shard' | 'due' | 'at'>;

function unsendable(answer: string, isHopeless: boolean): Unsendable {
  return { outcome: 'FORBIDDEN', httpStatus: null, latencyMs: 0, endedAt: performance.now(), answer, isHopeless };
}
