import type { Logger } from 'pino';
import { type Database, isDatabaseAway } from '../../platform/db/database.js';
import { ALL_TYPE_NOS } from '../event-type-sql.js';
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
import { setAsideWithoutAddress } from '../queue/finish-sql.js';
import { SHARDS } from '../queue/shards-sql.js';
import type { Receiver, Receivers } from '../receivers/receivers.js';
import type { Lane } from './lane.js';
import type { ReadsInProgress } from './reads-in-progress.js';
import type { Shard } from './shard.js';

export interface DueReaderDeps {
  readonly database: Database;
  readonly receivers: Receivers;
  readonly log: Logger;
  readonly reads: ReadsInProgress;
  /** Shards that this node holds, by number. */
  readonly shards: ReadonlyMap<number, Shard>;
  /** Called when a lane has something to push or to load. */
  readonly onLaneFilled: (lane: Lane) => void;
  /** A clock for tests; undefined selects the database's clock. */
  readonly now: () => number | undefined;
}

/** The maximum number of rows that one read takes from one part of a shard. */
const PAGE_SIZE = 1_000;

/** Reads due events of the shards and queues each event in the lane of its address. */
export class DueReader {
  /**
   * Kinds of events (a channel and an event type) that are skipped because their address is paused or their channel
   * could not be read. The value is the channel's version at that time (0 if unreadable).
   */
  private readonly heldBack = new Map<number, number>();

  constructor(private readonly deps: DueReaderDeps) {}

  /**
   * Reads from each shard one page of the new rows, and one page of each look-back that is due. A look-back rereads
   * earlier positions, to find rows that were committed late. Returns true if more events may be due now. `nowMs` is
   * the database's time.
   */
  async readPage(nowMs: number): Promise<boolean> {
    const { database, reads, shards, now } = this.deps;
    const open = [...shards.values()].filter(({ isLeaving }) => !isLeaving);
    if (open.length === 0) return false;
    for (const shard of open) if (shard.mustReread.size > 0) await this.beginReread(shard);
    const moment = { at: nowMs, horizon: await readHorizon(database) };
    const isBehind = open.some(({ cursor }) => cursor.isBehind());
    const skippedLanes = isBehind ? lanesWithRest(open) : [];
    const skippedKinds = isBehind ? [...skippedLanes.flatMap((lane) => lane.kinds()), ...this.heldBack.keys()] : [];
    const parts = open.flatMap((shard) =>
      shard.cursor
        .nextParts(moment, skippedKinds.length > 0)
        .map((part) => ({ ...part, shard: shard.shard, of: shard })),
    );
    return reads.run(async (finished) => {
      const rows = groupBy(await readShards(database, parts, skippedKinds, PAGE_SIZE, now()), ({ part }) => part);
      let isMore = false;
      for (const [index, { of: shard, after, until, wasRead }] of parts.entries()) {
        const page = rows.get(index + 1) ?? [];
        if (shard.isLeaving) continue;
        await this.queueRows(shard, page, finished);
        wasRead(page, page.length === PAGE_SIZE);
        if (until === null) deferToSkippedLanes(skippedLanes, shard, after);
        isMore ||= page.length === PAGE_SIZE;
      }
      return isMore;
    });
  }

  /** Marks skipped events to be read again if their channel has changed or can be read again. */
  async recheckHeldBack(): Promise<void> {
    const { receivers, shards } = this.deps;
    const rechecks = [...this.heldBack].map(async ([kind, version]) => {
      const { channelId } = channelOf(kind);
      const receiver = await receivers.get(channelId).catch(() => undefined);
      if (!receiver || receiver.version === version) return;
      this.heldBack.delete(kind);
      shards.get(channelId % SHARDS)?.mustReread.add(kind);
    });
    await Promise.all(rechecks);
  }

  /** Rereads the kinds in `mustReread` from the start, each in its own lane, so that other lanes continue. */
  private async beginReread(shard: Shard): Promise<void> {
    const kinds = [...shard.mustReread];
    const found = await Promise.all(kinds.map((kind) => this.findReceiver(channelOf(kind).channelId)));
    for (const [index, kind] of kinds.entries()) {
      const receiver = found[index];
      shard.mustReread.delete(kind);
      if (!receiver) continue;
      const address = receiver.addresses[channelOf(kind).typeNo];
      // Without an address there is no lane to reread, so the whole shard is reread. Its events without an address are
      // then stored as undeliverable.
      if (!address) shard.cursor.rewind();
      else if (address.paused) this.heldBack.set(kind, receiver.version);
      else {
        const lane = shard.laneFor(receiver, address);
        lane.deferToDatabase(START);
        this.deps.onLaneFilled(lane);
      }
    }
  }

  private async queueRows(shard: Shard, rows: readonly DueEvent[], finished: ReadonlySet<EventKey>): Promise<void> {
    const byChannel = [...groupBy(rows, (row) => row.channelId)];
    const found = await Promise.all(byChannel.map(([channelId]) => this.findReceiver(channelId)));
    for (const [index, [, due]] of byChannel.entries()) {
      const receiver = found[index];
      if (!receiver) continue;
      const fresh = due.filter((one) => {
        const key = keyOf(one);
        return !finished.has(key) && !shard.known.has(key);
      });
      const withoutAddress = this.queueInLanes(shard, receiver, fresh);
      if (withoutAddress.length === 0) continue;
      const count = await setAsideWithoutAddress(this.deps.database, shard, receiver, withoutAddress);
      if (count < withoutAddress.length) for (const one of withoutAddress) shard.mustReread.add(kindOf(one));
    }
  }

  /** Returns undefined if the channel could not be read. Then only this channel's events wait. */
  private async findReceiver(channelId: number): Promise<Receiver | undefined> {
    try {
      return await this.deps.receivers.get(channelId);
    } catch (err) {
      if (isDatabaseAway(err)) throw err;
      this.deps.log.error({ err, channelId }, 'channel could not be read; its events are retried, check the channel');
      for (const typeNo of ALL_TYPE_NOS) this.heldBack.set(kindOf({ channelId, typeNo }), 0);
      return undefined;
    }
  }

  /** Queues each event in the lane of its address. Returns the events for which the channel has no address. */
  private queueInLanes(shard: Shard, receiver: Receiver, due: readonly DueEvent[]): DueEvent[] {
    const withoutAddress: DueEvent[] = [];
    for (const one of due) {
      const address = receiver.addresses[one.typeNo];
      if (shard.mustReread.size > 0 && shard.mustReread.has(kindOf(one))) continue;
      if (!address) withoutAddress.push(one);
      else if (address.paused) this.heldBack.set(kindOf(one), receiver.version);
      else {
        const lane = shard.laneFor(receiver, address);
        lane.offer(one);
        this.deps.onLaneFilled(lane);
      }
    }
    return withoutAddress;
  }
}

/** Returns the lanes that must still read events from the database. Each of these lanes reads its events itself. */
function lanesWithRest(shards: readonly Shard[]): Lane[] {
  return shards.flatMap(({ lanes }) => [...lanes.values()].filter((lane) => lane.hasRest()));
}

/**
 * Makes the skipped lanes read again from this position. A lane's own read may have ended before this read, and so may
 * have missed events that this read skipped.
 */
function deferToSkippedLanes(skipped: readonly Lane[], shard: Shard, after: DuePosition): void {
  for (const lane of skipped) {
    const mustReread = lane.kinds().some((kind) => shard.mustReread.has(kind));
    if (lane.shard === shard.shard && !mustReread) lane.deferToDatabase(after);
  }
}

function groupBy<Item, Key>(items: readonly Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
