import { type DueEvent, type EventKey, keyOf } from '../queue/due-sql.js';
import type { Pushed } from '../queue/finish-sql.js';
import type { HeldShard } from '../queue/shards-sql.js';
import type { Receiver } from '../receivers/receivers.js';
import { empty, isIdle, kindsOf, type Lane, newLane } from './lane.js';
import { type ShardReader, shardReader } from './shard-reader.js';

/** A shard that this node holds, and what it has of it in memory. */
export interface Shard extends HeldShard {
  readonly reader: ShardReader;
  readonly lanes: Map<string, Lane>;
  /** What is in memory, whichever lane it is in: read again, it is known by its key and left alone. */
  readonly known: Set<EventKey>;
  /** Kinds of which something was given back: their lanes read it again, and until then nothing newer is taken in. */
  readonly anew: Set<number>;
  /** Pushes under way, and those that are over and not written down yet. */
  busy: number;
  /** Pushes that are over, and cannot be written down because somebody else holds what that takes. */
  heldUp: number;
  /** To be given back once it is not busy: nothing of it is read or begun any more. */
  leaving: boolean;
}

/** A push that is over, and the shard in which it began. */
export interface Ended extends Pushed {
  readonly shard: Shard;
}

export function newShard({ shard, epoch }: HeldShard): Shard {
  return {
    shard,
    epoch,
    reader: shardReader(),
    lanes: new Map(),
    known: new Set(),
    anew: new Set(),
    busy: 0,
    heldUp: 0,
    leaving: false,
  };
}

/** One lane for each address: where both kinds of events go to the same one, they keep their order. */
export function laneFor(shard: Shard, receiver: Receiver, isPayment: boolean, url: string): Lane {
  const { channelId } = receiver;
  const both = areOne(receiver);
  const key = `${channelId} ${both ? 'both' : isPayment} ${url}`;
  const existing = shard.lanes.get(key);
  if (existing) return existing;
  const { known } = shard;
  const lane = newLane({ key, channelId, shard: shard.shard, isPayment: both ? undefined : isPayment, url, known });
  shard.lanes.set(key, lane);
  return lane;
}

/** Whether what is in the lane still goes there. */
export function leadsTo(receiver: Receiver, lane: Lane): boolean {
  const address = lane.isPayment === false ? receiver.orders : receiver.payments;
  return address?.url === lane.url && !address.paused && (lane.isPayment === undefined) === areOne(receiver);
}

function areOne({ payments, orders }: Receiver): boolean {
  return payments?.url === orders?.url && payments?.paused === orders?.paused;
}

/** Leaves what a lane holds to the database, which has all of it, and reads it again; also what was just taken from it. */
export function forget(shard: Shard, lane: Lane, taken: readonly DueEvent[] = []): void {
  for (const due of taken) shard.known.delete(keyOf(due));
  empty(lane);
  for (const kind of kindsOf(lane)) shard.anew.add(kind);
  dropIdle(shard, lane);
}

/** A lane with pushes under way stays: the next event of their orders waits for them. */
export function dropIdle(shard: Shard, lane: Lane): void {
  if (isIdle(lane) && shard.lanes.get(lane.key) === lane) shard.lanes.delete(lane.key);
}

/** With so many, nothing more of it is sent: the others are not to wait until these can be written down. */
const MOST_HELD_UP = 100;
export const isStuck = (shard: Shard) => shard.heldUp >= MOST_HELD_UP;

export function leaveShard(shard: Shard): void {
  shard.leaving = true;
  for (const lane of shard.lanes.values()) forget(shard, lane);
  // Should it stay, everything is read again.
  shard.anew.clear();
  shard.reader.rewind();
}
