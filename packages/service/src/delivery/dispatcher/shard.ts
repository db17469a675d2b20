import { DEFAULT_PUSHES_PER_ADDRESS } from '../../platform/settings.js';
import { type DueEvent, type EventKey, keyOf } from '../queue/due-sql.js';
import type { PushOutcome } from '../queue/finish-sql.js';
import type { HeldShard } from '../queue/shards-sql.js';
import type { Address, Receiver } from '../receivers/receivers.js';
import { Lane } from './lane.js';
import { createShardCursor } from './shard-cursor.js';

/** The number of blocked outcomes at which the shard begins no pushes, so that it does not delay other shards. */
const MAX_BLOCKED_OUTCOMES = 100;

/** A shard that this node holds, with its state in memory. */
export class Shard implements HeldShard {
  readonly shard: number;
  readonly epoch: number;
  readonly cursor = createShardCursor();
  readonly lanes = new Map<string, Lane>();
  /** Keys of all events in memory, in any lane. A read of due events skips these keys. */
  readonly known = new Set<EventKey>();
  /** Kinds whose lanes must read all their events again. Until then, newer events of these kinds are skipped. */
  readonly mustReread = new Set<number>();
  /** Pushes in flight, and finished pushes whose outcome is not yet written. */
  unfinishedPushes = 0;
  /** Finished pushes whose outcome cannot be written, because another transaction has locked the rows. */
  blockedOutcomes = 0;
  /**
   * True if the shard is released when it has no unfinished pushes. Until then it reads no events and begins no pushes.
   */
  isLeaving = false;

  constructor(
    { shard, epoch }: HeldShard,
    private readonly pushesPerAddress = DEFAULT_PUSHES_PER_ADDRESS,
  ) {
    this.shard = shard;
    this.epoch = epoch;
  }

  /**
   * Returns the lane of an address. Event types with the same address share a lane, so that their events stay in
   * sequence.
   */
  laneFor({ channelId }: Receiver, { typeNos, url }: Address): Lane {
    const key = laneKey(channelId, typeNos, url);
    const existing = this.lanes.get(key);
    if (existing) return existing;
    const { shard, known, pushesPerAddress: maxPushes } = this;
    const lane = new Lane({ key, channelId, shard, typeNos, url, known, maxPushes });
    this.lanes.set(key, lane);
    return lane;
  }

  /**
   * Drops from memory a lane's events, and the events just taken from the lane. All of them are read again from the
   * database.
   */
  rereadLane(lane: Lane, taken: readonly DueEvent[] = []): void {
    for (const due of taken) this.known.delete(keyOf(due));
    lane.clear();
    for (const kind of lane.kinds()) this.mustReread.add(kind);
    this.removeIfIdle(lane);
  }

  /**
   * Removes the lane if it is idle. A lane with pushes in flight stays, because later events of their orders wait for
   * these pushes.
   */
  removeIfIdle(lane: Lane): void {
    if (lane.isIdle() && this.lanes.get(lane.key) === lane) this.lanes.delete(lane.key);
  }

  mayPush(lane: Lane): boolean {
    return !this.isLeaving && this.blockedOutcomes < MAX_BLOCKED_OUTCOMES && this.lanes.get(lane.key) === lane;
  }

  /** Stops reading and pushing, so that the shard can be released. */
  prepareToLeave(): void {
    this.isLeaving = true;
    for (const lane of this.lanes.values()) this.rereadLane(lane);
    // If the shard is kept after all, everything is read again.
    this.mustReread.clear();
    this.cursor.rewind();
  }
}

/** A push that has ended, with the shard in which it began. */
export interface FinishedPush extends PushOutcome {
  readonly shard: Shard;
}

/** Returns true if the events of a lane are still sent to the lane's address. */
export function leadsTo(receiver: Receiver, lane: Lane): boolean {
  const address = receiver.addresses[lane.typeNos[0] ?? 0];
  if (!address || address.paused) return false;
  return laneKey(receiver.channelId, address.typeNos, address.url) === lane.key;
}

const laneKey = (channelId: number, typeNos: readonly number[], url: string) => `${channelId} ${typeNos.join()} ${url}`;
