import type { Logger } from 'pino';
import { type Database, isAway } from '../../platform/db/database.js';
import {
  channelOf,
  type DueEvent,
  type DuePosition,
  type EventKey,
  keyOf,
  kindOf,
  readHorizon,
  readShards,
  START,
} from '../queue/due-sql.js';
import { putAside } from '../queue/finish-sql.js';
import { SHARDS } from '../queue/shards-sql.js';
import type { Address, Receiver, Receivers } from '../receivers/receivers.js';
import { kindsOf, type Lane, leave, offer } from './lane.js';
import { laneFor, type Shard } from './shard.js';

export interface ReadingDeps {
  readonly database: Database;
  readonly receivers: Receivers;
  readonly log: Logger;
  /** Those that this node holds. */
  readonly shards: ReadonlyMap<number, Shard>;
  /** A lane has something to send, or to read. */
  readonly queueUp: (lane: Lane) => void;
  readonly reading: <T>(read: (finished: ReadonlySet<EventKey>) => Promise<T>) => Promise<T>;
  /** For tests; unset, the database's own clock counts. */
  readonly now: () => number | undefined;
}

/** Rows of one part of a shard in one reading. */
const PAGE = 1_000;

/** Reads what is due in the shards, and gives each event to its lane. */
export function shardReading({ database, receivers, log, shards, queueUp, reading, now }: ReadingDeps) {
  /** Kinds of which something is held back, and the version of their channel when that was seen; 0: it could not be read. */
  const heldBack = new Map<number, number>();

  /** True when there may be more at once. `nowMs` is the database's clock. */
  async function next(nowMs: number): Promise<boolean> {
    const open = [...shards.values()].filter(({ leaving }) => !leaving);
    if (open.length === 0) return false;
    for (const shard of open) if (shard.anew.size > 0) await beginAnew(shard);
    const moment = { at: nowMs, horizon: await readHorizon(database) };
    const isBehind = open.some(({ reader }) => reader.isBehind());
    const spared = isBehind ? lanesWithRest(open) : [];
    const kinds = isBehind ? [...spared.flatMap(kindsOf), ...heldBack.keys()] : [];
    const parts = open.flatMap((shard) =>
      shard.reader.parts(moment, kinds.length > 0).map((part) => ({ ...part, shard: shard.shard, of: shard })),
    );
    return reading(async (finished) => {
      const rows = grouped(await readShards(database, parts, kinds, PAGE, now()), ({ part }) => part);
      let isMore = false;
      for (const [index, { of: shard, after, until, took }] of parts.entries()) {
        const mine = rows.get(index + 1) ?? [];
        if (shard.leaving) continue;
        await accept(shard, mine, finished);
        took(mine, mine.length === PAGE);
        if (until === null) leaveTo(spared, shard, after);
        isMore ||= mine.length === PAGE;
      }
      return isMore;
    });
  }

  /** Lanes that read what is due for them by themselves, since it was more than they hold. */
  const lanesWithRest = (open: readonly Shard[]): Lane[] =>
    open.flatMap(({ lanes }) => [...lanes.values()].filter(({ restAfter }) => restAfter !== undefined));

  /** The reading of their own may have come to its end before the one that has passed over them. */
  function leaveTo(spared: readonly Lane[], shard: Shard, after: DuePosition): void {
    for (const lane of spared) {
      const isAnew = kindsOf(lane).some((kind) => shard.anew.has(kind));
      if (lane.shard === shard.shard && !isAnew) leave(lane, after);
    }
  }

  /** What was given back is read again by the lanes of its channel, from the start, each by itself: the others go on. */
  async function beginAnew(shard: Shard): Promise<void> {
    const kinds = [...shard.anew];
    const found = await Promise.all(kinds.map((kind) => receiverOf(channelOf(kind).channelId)));
    for (const [index, kind] of kinds.entries()) {
      const receiver = found[index];
      shard.anew.delete(kind);
      if (!receiver) continue;
      const { isPayment } = channelOf(kind);
      const address = addressOf(receiver, isPayment);
      // There is no lane that could: what was put off is put aside when all of the shard has been read again.
      if (!address) shard.reader.rewind();
      else if (address.paused) heldBack.set(kind, receiver.version);
      else {
        const lane = laneFor(shard, receiver, isPayment, address.url);
        leave(lane, START);
        queueUp(lane);
      }
    }
  }

  async function accept(shard: Shard, rows: readonly DueEvent[], finished: ReadonlySet<EventKey>): Promise<void> {
    const channelsOfRows = [...grouped(rows, (row) => row.channelId)];
    const found = await Promise.all(channelsOfRows.map(([channelId]) => receiverOf(channelId)));
    for (const [index, [, due]] of channelsOfRows.entries()) {
      const receiver = found[index];
      if (!receiver) continue;
      const fresh = due.filter((one) => {
        const key = keyOf(one);
        return !finished.has(key) && !shard.known.has(key);
      });
      const aside = sort(shard, receiver, fresh);
      if (aside.length === 0 || (await putAside(database, shard, receiver, aside)) === aside.length) continue;
      for (const one of aside) shard.anew.add(kindOf(one));
    }
  }

  /** A channel that cannot be read holds up no other. */
  async function receiverOf(channelId: number): Promise<Receiver | undefined> {
    try {
      return await receivers.get(channelId);
    } catch (err) {
      if (isAway(err)) throw err;
      log.error({ err, channelId }, 'a channel could not be read, and its events wait');
      for (const isPayment of [true, false]) heldBack.set(kindOf({ channelId, isPayment }), 0);
      return undefined;
    }
  }

  /** Each to its lane; those without an address are given back. */
  function sort(shard: Shard, receiver: Receiver, due: readonly DueEvent[]): DueEvent[] {
    const aside: DueEvent[] = [];
    for (const one of due) {
      const address = addressOf(receiver, one.isPayment);
      if (shard.anew.size > 0 && shard.anew.has(kindOf(one))) continue;
      if (!address) aside.push(one);
      else if (address.paused) heldBack.set(kindOf(one), receiver.version);
      else {
        const lane = laneFor(shard, receiver, one.isPayment, address.url);
        offer(lane, one);
        queueUp(lane);
      }
    }
    return aside;
  }

  return {
    next,
    /** An address that is not held back any more, or another one: what was passed over is read again. */
    async lookAtHeldBack(): Promise<void> {
      const looked = [...heldBack].map(async ([kind, version]) => {
        const { channelId } = channelOf(kind);
        const receiver = await receivers.get(channelId).catch(() => undefined);
        if (!receiver || receiver.version === version) return;
        heldBack.delete(kind);
        shards.get(channelId % SHARDS)?.anew.add(kind);
      });
      await Promise.all(looked);
    },
  };
}

const addressOf = ({ payments, orders }: Receiver, isPayment: boolean): Address | undefined =>
  isPayment ? payments : orders;

function grouped<Item, Key>(items: readonly Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
