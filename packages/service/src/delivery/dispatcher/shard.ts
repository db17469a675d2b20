import { type DueEvent, type EventKey, keyOf } from '../queue/due-sql.js';
import type { PushOutcome } from '../queue/finish-sql.js';
import type { HeldShard } from '../queue/shards-sql.js';
import type { Address, Receiver } from '../receivers/receivers.js';
import { Lane } from './lane.js';
import { createShardCursor } from './shard-cursor.js';

/** With so many outcomes that cannot be written, nothing more of the shard is pushed: other shards must not wait for it. */
const MAX_BLOCKED_OUTCOMES = 100;

/** A shard that this node holds, and what the node has of it in memory. */
export class Shard implements HeldShard {
  readonly shard: number;
  readonly epoch: number;
  readonly cursor = createShardCursor();
  readonly lanes = new Map<string, Lane>();
  /** What is in memory, whichever lane it is in. When it is read again it is recognised by its key and left alone. */
  readonly known = new Set<EventKey>();
  /** Kinds whose lanes must read everything again; until then nothing newer of them is taken in. */
  readonly mustReread = new Set<number>();
  /** Pushes under way, and finished pushes that are not written yet. */
  unfinishedPushes = 0;
  /** Finished pushes that cannot be written, because somebody else has locked the rows. */
  blockedOutcomes = 0;
  /** To be given back once it has no unfinished pushes: nothing of it is read or begun any more. */
  isLeaving = false;

  constructor({ shard, epoch }: HeldShard) {
    this.shard = shard;
    this.epoch = epoch;
  }

  /** One lane for each address: where several types of events go to the same one, they keep their order. */
  laneFor({ channelId }: Receiver, { typeNos, url }: Address): Lane {
    const key = laneKey(channelId, typeNos, url);
    const existing = this.lanes.get(key);
    if (existing) return existing;
    const { shard, known } = this;
    const lane = new Lane({ key, channelId, shard, typeNos, url, known });
    this.lanes.set(key, lane);
    return lane;
  }

  /** Drops what a lane has in memory, and what was just taken from it. All of it is read again from the database. */
  rereadLane(lane: Lane, taken: readonly DueEvent[] = []): void {
    for (const due of taken) this.known.delete(keyOf(due));
    lane.clear();
    for (const kind of lane.kinds()) this.mustReread.add(kind);
    this.removeIfIdle(lane);
  }

  /** A lane with pushes under way stays: the next event of their orders waits for them. */
  removeIfIdle(lane: Lane): void {
    if (lane.isIdle() && this.lanes.get(lane.key) === lane) this.lanes.delete(lane.key);
  }

  mayPush(lane: Lane): boolean {
    return !this.isLeaving && this.blockedOutcomes < MAX_BLOCKED_OUTCOMES && this.lanes.get(lane.key) === lane;
  }

  /** Stops reading and pushing, so that it can be given back. */
  prepareToLeave(): void {
    this.isLeaving = true;
    for (const lane of this.lanes.values()) this.rereadLane(lane);
    // In case it stays after all, everything is read again.
    this.mustReread.clear();
    this.cursor.rewind();
  }
}

/** A push that has ended, and the shard in which it began. */
export interface FinishedPush extends PushOutcome {
  readonly shard: Shard;
}

/** Whether the events of a lane still go to its address. */
export function leadsTo(receiver: Receiver, lane: Lane): boolean {
  const address = receiver.addresses[lane.typeNos[0] ?? 0];
  if (!address || address.paused) return false;
  return laneKey(receiver.channelId, address.typeNos, address.url) === lane.key;
}

const laneKey = (channelId: number, typeNos: readonly number[], url: string) => `${channelId} ${typeNos.join()} ${url}`;
