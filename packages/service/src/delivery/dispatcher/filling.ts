import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.js';
import { type DueEvent, type EventKey, keyOf, readChannel, readEvents, type StoredEvent } from '../queue/due-sql.js';
import { expandRange, type Pushed } from '../queue/finish-sql.js';
import { type Message, messageOf } from '../receivers/message.js';
import type { Receiver, Receivers } from '../receivers/receivers.js';
import { hasRoom, type Lane, offerFirst, offerRest, take } from './lane.js';
import { type Ended, forget, leadsTo, type Shard } from './shard.js';

export interface FillingDeps {
  readonly database: Database;
  readonly receivers: Receivers;
  readonly log: Logger;
  /** For events that cannot be sent at all. */
  readonly record: (ended: Ended) => void;
  readonly reading: <T>(read: (finished: ReadonlySet<EventKey>) => Promise<T>) => Promise<T>;
  /** For tests; unset, the database's own clock counts. */
  readonly now: () => number | undefined;
}

/** Events of a lane that are read in full together. */
const LOAD = 128;
/** Keys of the rest of a lane in one reading. */
const PAGE = 1_000;
/** Voided periods that become events of their own at a time. */
const EXPAND = 100;

/** Reads the next events of a lane in full, and the keys that did not fit before. */
export function filling({ database, receivers, log, record, reading, now }: FillingDeps) {
  async function next(shard: Shard, lane: Lane): Promise<void> {
    lane.isFilling = true;
    let taken: readonly DueEvent[] = [];
    try {
      if (lane.restAfter && lane.queue.length < LOAD) await readRest(lane, lane.restAfter);
      taken = take(lane, LOAD);
      await load(shard, lane, taken);
    } catch (err) {
      log.warn({ err, cause: 'reading events' }, 'events could not be read and will be read again');
      forget(shard, lane, taken);
    } finally {
      lane.isFilling = false;
    }
  }

  async function readRest(lane: Lane, after: NonNullable<Lane['restAfter']>): Promise<void> {
    lane.leftSince = undefined;
    const { emptied } = lane;
    await reading(async (finished) => {
      const rows = await readChannel(database, { shard: lane.shard, after }, lane, PAGE, now());
      if (lane.emptied !== emptied) return;
      offerRest(
        lane,
        rows.filter((row) => !finished.has(keyOf(row))),
        rows.length === PAGE,
      );
    });
  }

  async function load(shard: Shard, lane: Lane, taken: readonly DueEvent[]): Promise<void> {
    const { emptied } = lane;
    for (const range of taken.filter(({ cycleTo }) => cycleTo !== null)) {
      const parts = await expandRange(database, shard, range, EXPAND);
      // The first of them has the key that the range had.
      shard.known.delete(keyOf(range));
      offerFirst(lane, parts);
    }
    const due = taken.filter(({ cycleTo }) => cycleTo === null);
    if (due.length === 0 && lane.emptied === emptied) return;
    const events = await readEvents(database, lane.channelId, due);
    const any = events.find((event) => event !== undefined);
    const receiver = await receivers.get(lane.channelId, any?.version);
    if (lane.emptied !== emptied || !leadsTo(receiver, lane)) {
      forget(shard, lane, due);
      return;
    }
    for (const [place, row] of due.entries()) {
      const message = prepared(receiver, row, events[place]);
      if ('answer' in message) record({ ...message, shard, due: row, at: now() });
      else lane.ready.push(message);
    }
  }

  function prepared(receiver: Receiver, due: DueEvent, event: StoredEvent | undefined): Message | Unsendable {
    // Past its retention: there is nothing left to tell.
    if (!event) return unsendable('the event is past its retention', true);
    try {
      return messageOf(receiver, due, event);
    } catch (err) {
      log.error({ err, eventId: String(keyOf(due)) }, 'an event could not be put together');
      return unsendable('the event could not be put together', false);
    }
  }

  return {
    isWanted: (lane: Lane) =>
      !lane.isFilling &&
      lane.ready.length <= LOAD / 2 &&
      hasRoom(lane) &&
      (lane.queue.length > 0 || lane.restAfter !== undefined),
    /** Never fails: everything is still in the database. */
    next,
  };
}

type Unsendable = Omit<Pushed, 'shard' | 'due' | 'at'>;

function unsendable(answer: string, isHopeless: boolean): Unsendable {
  return { outcome: 'FORBIDDEN', httpStatus: null, latencyMs: 0, endedAt: performance.now(), answer, isHopeless };
}
